import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { RejectedMessage } from './event.ts';
import { originOfRecord, originTexts, textAttributes } from './origin.ts';

/**
 * Puts a message that cannot be processed into the dead-letter queue: its body unchanged; beside it the reason, its origin,
 * and who sent it, as SQS knows them.
 */
export type SendToDeadLetters = (record: SQSRecord, rejection: RejectedMessage) => Promise<void>;

/** Makes the sender to the dead-letter queue. */
export function makeDeadLetters({
  sqs,
  queueUrl,
}: {
  sqs: Pick<SQSClient, 'send'>;
  queueUrl: string;
}): SendToDeadLetters {
  return async function deadLetters(record, { reason, detail }) {
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
