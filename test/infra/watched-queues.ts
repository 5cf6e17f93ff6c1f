import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { Clock } from '../../lambdas/platform/clock.ts';
import type { Outside } from '../../lambdas/platform/outside.ts';

/** A message of a queue. */
export interface Message {
  readonly id: string;
  readonly queue: string;
  readonly body: string;
  readonly sentAt: number;
  visibleAt: number;
  receives: number;
}

/** The queues of a stage. */
export type WatchedQueues = ReturnType<typeof makeWatchedQueues>;

/**
 * Makes the queues of a stage, by their URLs. A message that was received is hidden, and comes back unless it is deleted. To a process
 * that asks for more, a queue seems empty: each message is for a process of its own.
 */
export function makeWatchedQueues(now: Clock) {
  let sent = 0;
  const messages = new Map<string, Message>();
  const sqs: Outside['sqs'] = { send } as never;
  return { sqs, put, first, receive, remove };

  function put(queue: string, body = '', delaySeconds = 0): void {
    const id = `message-${++sent}`;
    messages.set(id, { id, queue, body, sentAt: now(), visibleAt: now() + delaySeconds * 1_000, receives: 0 });
  }

  /** Returns the message of a queue that is visible first. */
  function first(queue: string): Message | undefined {
    let found: Message | undefined;
    for (const message of messages.values())
      if (message.queue === queue && (!found || message.visibleAt < found.visibleAt)) found = message;
    return found;
  }

  /** Receives a message, as Lambda does for a consumer. */
  function receive(message: Message): SQSRecord {
    message.receives += 1;
    message.visibleAt = now() + visibility;
    const { id, body, sentAt, receives } = message;
    return {
      messageId: id,
      receiptHandle: id,
      body,
      attributes: {
        SentTimestamp: String(sentAt),
        ApproximateReceiveCount: String(receives),
        ApproximateFirstReceiveTimestamp: String(sentAt),
        SenderId: 'AROAPUBLISHER:one',
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: '',
      awsRegion: '',
    };
  }

  function remove({ id }: Message): void {
    messages.delete(id);
  }

  /** Answers the part of SQS that the functions ask for. */
  async function send(command: object): Promise<object> {
    if (command instanceof SendMessageCommand) {
      const { QueueUrl = '', MessageBody, DelaySeconds } = command.input;
      put(QueueUrl, MessageBody, DelaySeconds);
    } else if (command instanceof SendMessageBatchCommand) {
      const { QueueUrl = '', Entries = [] } = command.input;
      for (const { MessageBody, DelaySeconds } of Entries) put(QueueUrl, MessageBody, DelaySeconds);
    } else if (command instanceof ChangeMessageVisibilityCommand) hide(command.input);
    else if (command instanceof ChangeMessageVisibilityBatchCommand) command.input.Entries?.forEach(hide);
    return {};
  }

  function hide({ ReceiptHandle: id = '', VisibilityTimeout: seconds = 0 }: Hiding): void {
    const message = messages.get(id);
    if (message) message.visibleAt = now() + seconds * 1_000;
  }
}

interface Hiding {
  readonly ReceiptHandle?: string | undefined;
  readonly VisibilityTimeout?: number | undefined;
}

/** The time that a received message is hidden, in milliseconds: six times as long as an invocation may take (`work-queue.ts`). */
const visibility = 270_000;
