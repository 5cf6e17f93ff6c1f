import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { RejectedMessage } from './event.ts';

/** Puts a message that cannot be processed into the dead-letter queue: its body unchanged, the reason beside it. */
export type SendToDeadLetters = (body: string, rejection: RejectedMessage) => Promise<void>;

/** Makes the sender to the dead-letter queue. */
export const makeDeadLetters =
  ({ sqs, queueUrl }: { sqs: Pick<SQSClient, 'send'>; queueUrl: string }): SendToDeadLetters =>
  async (body, { reason, detail }) => {
    const attribute = (value: string) => ({ DataType: 'String', StringValue: value });
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        MessageAttributes: { reason: attribute(reason), detail: attribute(detail) },
      }),
    );
  };
