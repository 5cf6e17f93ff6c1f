import { DeleteMessageCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { describeError } from '../../platform/telemetry.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { RejectedMessage } from './event.ts';
import { originOfRecord, originTexts, textAttributes } from './origin.ts';

/**
 * Moves a poison message, one that can never be processed, to the dead-letter queue: its body unchanged, with the
 * reason, its origin, and who sent it, as SQS knows them. Throws if the queue does not take it: the message then stays.
 *
 * It is deleted at once: its invocation may last as long as the slowest receiver, and a process that died meanwhile would have it
 * moved again. Copies are possible all the same, and have the same origin and body.
 *
 * @param logMove - called before the deletion, after which only the log names the message
 */
export type MoveToDeadLetters = (record: SQSRecord, rejection: RejectedMessage, logMove: () => void) => Promise<void>;

/** Returns the function that moves messages of a queue to the dead-letter queue. */
export function makeMoveToDeadLetters({
  sqs,
  queueUrl,
  deadLetterQueueUrl,
  log,
}: {
  readonly sqs: Pick<SQSClient, 'send'>;
  /** The queue that the messages come from. */
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
} & Pick<DeliveryTelemetry, 'log'>): MoveToDeadLetters {
  return async function moveToDeadLetters(record, { reason, detail }, logMove) {
    const { body: MessageBody, messageId, receiptHandle: ReceiptHandle, attributes } = record;
    const sender = attributes.SenderId;
    const MessageAttributes = textAttributes({
      reason,
      detail,
      ...(sender && { sender }), // SQS takes no empty attribute
      ...originTexts(originOfRecord(record)),
    });
    await sqs.send(new SendMessageCommand({ QueueUrl: deadLetterQueueUrl, MessageBody, MessageAttributes }));
    logMove();
    try {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
    } catch (error) {
      log.warn('message.not_deleted', { messageId, ...describeError(error) });
    }
  };
}
