import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { RejectedMessage } from './event.ts';
import { type Origin, originTexts, textAttributes } from './origin.ts';

/** Puts a message that cannot be processed into the dead-letter queue: its body unchanged; beside it the reason and its origin. */
export type SendToDeadLetters = (body: string, origin: Origin, rejection: RejectedMessage) => Promise<void>;

/** Makes the sender to the dead-letter queue. */
export const makeDeadLetters =
  ({ sqs, queueUrl }: { sqs: Pick<SQSClient, 'send'>; queueUrl: string }): SendToDeadLetters =>
  async (body, origin, { reason, detail }) => {
    const MessageAttributes = textAttributes({ reason, detail, ...originTexts(origin) });
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body, MessageAttributes }));
  };
