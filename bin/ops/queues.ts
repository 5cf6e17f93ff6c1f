import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { makeRetryQueue, type RetryQueue } from '../../lambdas/delivery/retry-queue.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import { connectionSettings } from './connection-settings.ts';
import { requireOutput, type Target } from './target.ts';

// Loaded by the commands that reach a queue, when they do: the SDK takes longer to load than the rest takes to run.

/** A queue by its output's name. */
export type QueueName = 'EventsQueueUrl' | 'RetryQueueUrl' | 'DeadLetterQueueUrl';

/** A message of the dead-letter queue. */
export interface DeadLetter {
  readonly messageId: string;
  readonly body: string;
  /** RFC 3339, UTC. */
  readonly sentAt: string | null;
  /** Why the delivery function put it there; `null` where the queue itself did, after too many receives. */
  readonly reason: string | null;
  readonly detail: string | null;
  readonly receipt: string;
}

/** The target's queues. */
export interface Queues {
  /** Sends a message in the group of its account; gives the message id. */
  send(queue: QueueName, body: string, account: string): Promise<string>;
  /**
   * Takes dead letters in hand, each once, until the queue shows no more or `limit` is reached. They stay on the queue,
   * hidden for `hiddenSeconds` from whoever else looks.
   */
  deadLetters(options: { limit: number; hiddenSeconds: number }): AsyncGenerator<DeadLetter>;
  /** Takes a dead letter off the queue for good. */
  remove(letter: DeadLetter): Promise<void>;
}

const fromMessage = ({ MessageId, Body, Attributes, MessageAttributes, ReceiptHandle }: Message): DeadLetter => {
  const sentAt = Number(Attributes?.SentTimestamp);
  return {
    messageId: MessageId ?? '',
    body: Body ?? '',
    sentAt: Number.isFinite(sentAt) ? new Date(sentAt).toISOString() : null,
    reason: MessageAttributes?.reason?.StringValue ?? null,
    detail: MessageAttributes?.detail?.StringValue ?? null,
    receipt: ReceiptHandle ?? '',
  };
};

/** Connects to the target's retry queue, as its functions do. */
export const openRetryQueue = (target: Target): RetryQueue =>
  makeRetryQueue({
    sqs: new SQSClient(connectionSettings(target, target.outputs.SqsEndpoint)),
    queueUrl: requireOutput(target, 'RetryQueueUrl'),
    now: systemClock,
  });

/** Connects to the target's queues. */
export const openQueues = (target: Target): Queues => {
  const sqs = new SQSClient(connectionSettings(target, target.outputs.SqsEndpoint));
  const urlOf = (queue: QueueName) => requireOutput(target, queue);

  return {
    send: async (queue, body, account) => {
      const answer = await sqs.send(
        new SendMessageCommand({ QueueUrl: urlOf(queue), MessageBody: body, MessageGroupId: account }),
      );
      return answer.MessageId ?? '';
    },

    deadLetters: async function* ({ limit, hiddenSeconds }) {
      const seen = new Set<string>();
      while (seen.size < limit) {
        const answer = await sqs.send(
          new ReceiveMessageCommand({
            QueueUrl: urlOf('DeadLetterQueueUrl'),
            MaxNumberOfMessages: Math.min(10, limit - seen.size),
            VisibilityTimeout: hiddenSeconds,
            WaitTimeSeconds: 1,
            MessageAttributeNames: ['All'],
            MessageSystemAttributeNames: ['SentTimestamp'],
          }),
        );
        const fresh = (answer.Messages ?? []).map(fromMessage).filter(({ messageId }) => !seen.has(messageId));
        if (fresh.length === 0) return;
        for (const letter of fresh) {
          seen.add(letter.messageId);
          yield letter;
        }
      }
    },

    remove: async ({ receipt }) => {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: urlOf('DeadLetterQueueUrl'), ReceiptHandle: receipt }));
    },
  };
};
