import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { RejectedMessage } from './event.ts';

/**
 * Puts a message that cannot be processed into the dead-letter queue: its body unchanged; beside it the reason and the id
 * it was published under, since the queue gives it another.
 */
export type SendToDeadLetters = (
  message: Pick<SQSRecord, 'body' | 'messageId'>,
  rejection: RejectedMessage,
) => Promise<void>;

/** Makes the sender to the dead-letter queue. */
export const makeDeadLetters =
  ({ sqs, queueUrl }: { sqs: Pick<SQSClient, 'send'>; queueUrl: string }): SendToDeadLetters =>
  async ({ body, messageId }, { reason, detail }) => {
    const attribute = (value: string) => ({ DataType: 'String', StringValue: value });
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        MessageAttributes: {
          reason: attribute(reason),
          detail: attribute(detail),
          original_message_id: attribute(messageId),
        },
      }),
    );
  };
