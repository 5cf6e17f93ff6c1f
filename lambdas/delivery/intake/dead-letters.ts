import { DeleteMessageCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { describeError } from '../../platform/telemetry.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { RejectedMessage } from './event.ts';
import { originOfRecord, originTexts, textAttributes } from './origin.ts';

/**
 * Moves a message that can never be processed to the dead-letter queue. Adds the reason, the message's origin and its SQS sender. Does
 * not change the body. If the dead-letter queue rejects the message, it stays in its queue, and the function throws.
 *
 * The function deletes the message at once, because the invocation may last as long as the slowest receiver. If the process died before a
 * later deletion, the message would be moved again. Copies are still possible, with the same origin and body.
 *
 * @param logMove - logs the move. Called before the deletion.
 */
export type MoveToDeadLetters = (record: SQSRecord, rejection: RejectedMessage, logMove: () => void) => Promise<void>;

export function makeMoveToDeadLetters({
  sqs,
  queueUrl,
  deadLetterQueueUrl,
  log,
}: {
  readonly sqs: Pick<SQSClient, 'send'>;
  /** The queue that contains the messages. */
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
} & Pick<DeliveryTelemetry, 'log'>): MoveToDeadLetters {
  return async function moveToDeadLetters(record, { reason, detail }, logMove) {
    const { body: MessageBody, messageId, receiptHandle: ReceiptHandle, attributes } = record;
    const sender = attributes.SenderId;
    const MessageAttributes = textAttributes({
      reason,
      detail,
      ...(sender && { sender }), // SQS rejects empty attributes
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
