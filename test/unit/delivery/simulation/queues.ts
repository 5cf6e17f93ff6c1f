import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { Clock } from '../../../../lambdas/platform/clock.ts';

/** A message of a queue. Its id is its receipt, too. */
export interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly sentAt: number;
  readonly messageAttributes: SQSRecord['messageAttributes'];
  readonly sender?: string;
  visibleAt: number;
  /** The number of times that it was received by now. */
  receives?: number;
}

/** The time that a queue hides a message that was received and neither deleted nor changed, in milliseconds. */
const visibility = 180_000;

/** Makes the queues of a stage, named by their URLs. They deliver at least once, to whoever takes a message by `take`. */
export function makeQueues(now: Clock) {
  const queues: Record<'events' | 'retries' | 'slow', Message[]> = { events: [], retries: [], slow: [] };
  /** Their bodies, and their attributes by name. */
  const deadLetters: { body: string; [attribute: string]: string | undefined }[] = [];
  let messages = 0;
  return { queues, deadLetters, put, take, remove, send };

  /** Puts a message on a queue, with the texts of its attributes. */
  function put(queue: Message[], body: string, { delaySeconds = 0, texts = {}, sender = publisher }: Put = {}): void {
    if (delaySeconds > 900 || !Number.isInteger(delaySeconds)) throw new Error(`DelaySeconds ${delaySeconds}`);
    const messageAttributes = Object.fromEntries(
      Object.entries(texts).map(([name, stringValue]) => [name, { dataType: 'String' as const, stringValue }]),
    );
    const [sentAt, visibleAt] = [now(), now() + delaySeconds * 1_000];
    queue.push({ messageId: `message-${++messages}`, body, sentAt, messageAttributes, sender, visibleAt });
  }

  /** Takes the next visible message, as a consumer is given it; it stays hidden for a while. */
  function take(queue: Message[]): SQSRecord | undefined {
    const message = queue.find(isVisible);
    if (!message) return undefined;
    message.visibleAt = now() + visibility;
    message.receives = (message.receives ?? 0) + 1;
    const { messageId, body, sentAt, messageAttributes, sender: SenderId, receives } = message;
    const attributes = {
      SentTimestamp: String(sentAt),
      SenderId,
      ApproximateReceiveCount: String(receives),
    } as SQSRecord['attributes'];
    const from = { eventSource: 'aws:sqs', eventSourceARN: '', awsRegion: '', md5OfBody: '' };
    return { ...from, messageId, receiptHandle: messageId, body, attributes, messageAttributes };
  }

  /** Deletes a message, if it is still there. */
  function remove(queue: Message[], receipt: string | undefined): void {
    const at = queue.findIndex(({ messageId }) => messageId === receipt);
    if (at !== -1) queue.splice(at, 1);
  }

  /** Does what a command of SQS asks for. Nothing is received by commands: tests hand the messages out. */
  async function send(command: object): Promise<object> {
    if (command instanceof ReceiveMessageCommand) return {};
    if (command instanceof SendMessageCommand) sendOne(command.input.QueueUrl, command.input);
    else if (command instanceof SendMessageBatchCommand) {
      for (const entry of command.input.Entries ?? []) sendOne(command.input.QueueUrl, entry);
    } else if (command instanceof DeleteMessageCommand) {
      remove(queueAt(command.input.QueueUrl), command.input.ReceiptHandle);
    } else if (command instanceof DeleteMessageBatchCommand) {
      for (const { ReceiptHandle } of command.input.Entries ?? [])
        remove(queueAt(command.input.QueueUrl), ReceiptHandle);
    } else if (command instanceof ChangeMessageVisibilityCommand) hide(command.input.QueueUrl, command.input);
    else if (command instanceof ChangeMessageVisibilityBatchCommand) {
      for (const entry of command.input.Entries ?? []) hide(command.input.QueueUrl, entry);
    } else if (command instanceof GetQueueAttributesCommand) {
      const visible = queueAt(command.input.QueueUrl).filter(isVisible).length;
      return { Attributes: { ApproximateNumberOfMessages: String(visible) } };
    } else throw new Error(`The queues do not know ${command.constructor.name}.`);
    return {};
  }

  function sendOne(url: string | undefined, { MessageBody: body = '', DelaySeconds, MessageAttributes = {} }: Entry) {
    if (url !== 'dead-letters') return put(queueAt(url), body, { delaySeconds: DelaySeconds });
    const attributes = Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]);
    deadLetters.push({ body, ...Object.fromEntries(attributes) });
  }

  function hide(url: string | undefined, { ReceiptHandle, VisibilityTimeout = 0 }: Hidden): void {
    const message = queueAt(url).find(({ messageId }) => messageId === ReceiptHandle);
    if (message) message.visibleAt = now() + VisibilityTimeout * 1_000;
  }

  function queueAt(url: string | undefined): Message[] {
    return Object.entries(queues).find(([name]) => name === url)?.[1] ?? [];
  }

  function isVisible({ visibleAt }: Message): boolean {
    return visibleAt <= now();
  }
}

interface Put {
  readonly delaySeconds?: number | undefined;
  readonly texts?: Readonly<Record<string, string>> | undefined;
  readonly sender?: string | undefined;
}

type Entry = Pick<SendMessageCommandInput, 'DelaySeconds' | 'MessageAttributes'> & { MessageBody?: string | undefined };

interface Hidden {
  readonly ReceiptHandle: string | undefined;
  readonly VisibilityTimeout?: number | undefined;
}

const publisher = 'AROAPUBLISHER:one';
