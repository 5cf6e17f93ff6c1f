import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { RejectedMessage } from './event.ts';
import { originOfRecord, originTexts, textAttributes } from './origin.ts';

/**
 * Puts a poison message, one that can never be processed, into the dead-letter queue: its body unchanged; beside it the
 * reason, its origin, and who sent it, as SQS knows them. Throws where the queue does not take it: the message then stays.
 */
export type SendToDeadLetters = (record: SQSRecord, rejection: RejectedMessage) => Promise<void>;

/** Returns the function that sends to the dead-letter queue. */
export function makeSendToDeadLetters({
  sqs,
  queueUrl,
}: {
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
}): SendToDeadLetters {
  return async function sendToDeadLetters(record, { reason, detail }) {
    const sender = record.attributes.SenderId;
    const MessageAttributes = textAttributes({
      reason,
      detail,
      ...(sender && { sender }), // SQS takes no empty attribute
      ...originTexts(originOfRecord(record)),
    });
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: record.body, MessageAttributes }));
  };
}
