import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSRecordAttributes } from 'aws-lambda';
import type { QueueFaults } from '../faults.ts';
import type { Clock } from '../time.ts';
import type { Note } from '../virtual/record.ts';
import { makeFairOrder } from './fair-order.ts';

/** The definition of a standard queue. Times are in seconds, as in a template. */
export interface QueueDefinition {
  readonly name: string;
  /** The visibility timeout. @default 30 */
  readonly visibilityTimeout?: number | undefined;
  /** The maximum size of a message's body and attributes, in bytes. @default 1 MiB */
  readonly maxMessageSize?: number | undefined;
  /** The default wait time of a receive. @default 0 */
  readonly receiveWait?: number | undefined;
  readonly redrive?: { readonly queue: string; readonly maxReceiveCount: number } | undefined;
  /** True if the queue is fair. In a fair queue, no group waits for the backlog of another group. @default true */
  readonly isFair?: boolean;
}

export interface Sent {
  readonly body: string;
  readonly group?: string | undefined;
  readonly delaySeconds?: number | undefined;
  readonly attributes?: MessageAttributes | undefined;
}

/** A received message. */
export interface Received {
  readonly id: string;
  readonly receipt: string;
  readonly body: string;
  readonly systemAttributes: SQSRecordAttributes;
  readonly attributes: MessageAttributes;
}

export type MessageAttributes = Readonly<Record<string, MessageAttributeValue>>;

/** A message in a snapshot. */
export type MessageSnapshot = Readonly<Omit<Message, 'order' | 'cancelReturn'>>;

export type Queue = ReturnType<typeof makeQueue>;

export function makeQueue(definition: QueueDefinition, { time, faults, note, nextId, arnOf, dlq }: Context) {
  const { name, visibilityTimeout = 30, isFair = true } = definition;
  const { maxMessageSize = maxBytes, receiveWait = 0 } = definition;
  const { maxReceiveCount = Number.POSITIVE_INFINITY } = definition.redrive ?? {};
  const waiting = makeFairOrder<Message>(time.now, isFair);
  const messages = new Set<Message>();
  const inFlight = new Map<string, Message>();
  const listeners = new Set<() => void>();
  let sent = 0;
  let changes = 0;
  return {
    name,
    arn: arnOf(name),
    visibilityTimeout,
    maxMessageSize,
    receiveWait,
    visible: waiting.size,
    /** Returns the number of message changes so far. */
    changes: () => changes,
    inFlight: () => inFlight.size,
    delayed: () => messages.size - waiting.size() - inFlight.size,
    /** Returns the bodies of all messages, in the order in which they were sent. */
    bodies: () => [...messages].map(({ body }) => body),
    /** Calls `callback` whenever a message becomes visible. Returns a function that removes the callback. */
    onVisible: (callback: () => void) => {
      listeners.add(callback);
      return () => void listeners.delete(callback);
    },
    send,
    enqueue,
    receive,
    remove,
    hide,
    purge,
    all,
    restore,
  };

  /** Adds a message and returns its id. `sender` is the id of a principal. */
  function send({ body, group = '', delaySeconds = 0, attributes = {} }: Sent, sender: string): string {
    const id = nextId();
    note('message', `${name} ${id}`, () => [body, group, delaySeconds, attributes]);
    enqueue({ id, body, group, attributes, sender, sentAt: Math.floor(time.now()) }, delaySeconds);
    return id;
  }

  /** Adds a message from another queue, and keeps its id. */
  function enqueue({ id, body, group, attributes, sender, sentAt }: SentMessage, delaySeconds = 0): void {
    const visibleAt = time.now() + delaySeconds * 1_000;
    const message = add({ id, body, group, attributes, sender, sentAt, receives: 0, firstReceivedAt: 0, visibleAt });
    if (delaySeconds === 0) show(message);
    else showLater(message);
  }

  function add(snapshot: MessageSnapshot): Message {
    const message: Message = { ...snapshot, order: sent++, cancelReturn: () => {} };
    messages.add(message);
    changes += 1;
    return message;
  }

  function showLater(message: Message): void {
    time.at(message.visibleAt, () => messages.has(message) && show(message));
  }

  /** Receives messages. They are in flight until they are removed or their visibility timeout (`seconds`) expires. */
  function receive(maxMessages: number, seconds = visibilityTimeout): Received[] {
    const received: Received[] = [];
    while (received.length < maxMessages) {
      const message = waiting.next();
      if (!message) break;
      if (message.receives >= maxReceiveCount) {
        waiting.unmarkInFlight(message);
        messages.delete(message);
        changes += 1;
        note('message', `${name} ${message.id} moves to the dead-letter queue`);
        dlq()?.enqueue(message);
        continue;
      }
      message.receives += 1;
      if (message.receives === 1) message.firstReceivedAt = Math.floor(time.now());
      message.visibleAt = time.now() + seconds * 1_000;
      received.push(receivedOf(message, trackInFlight(message)));
    }
    return received;
  }

  /** Marks a message as in flight until its `visibleAt`. Returns the receipt handle. */
  function trackInFlight(message: Message): string {
    const receipt = `${message.id}/${message.receives}`;
    inFlight.set(receipt, message);
    returnLater(message, receipt);
    return receipt;
  }

  /** Removes the in-flight message with this receipt handle, if any. */
  function remove(receipt: string): void {
    const message = inFlight.get(receipt);
    if (!message) return;
    end(message, receipt);
    if (!faults.isRedelivered()) {
      messages.delete(message);
      return;
    }
    note('message', `${name} ${message.id} is delivered again`);
    show(message);
  }

  /** Sets the visibility timeout of an in-flight message, in seconds from now. Returns false if no in-flight message has this receipt handle. */
  function hide(receipt: string, seconds: number): boolean {
    const message = inFlight.get(receipt);
    if (!message) return false;
    message.visibleAt = time.now() + seconds * 1_000;
    if (seconds > 0) returnLater(message, receipt);
    else makeVisible(message, receipt);
    return true;
  }

  function returnLater(message: Message, receipt: string): void {
    changes += 1;
    message.cancelReturn();
    message.cancelReturn = time.at(message.visibleAt, () => makeVisible(message, receipt));
  }

  function makeVisible(message: Message, receipt: string): void {
    end(message, receipt);
    show(message);
  }

  function end(message: Message, receipt: string): void {
    changes += 1;
    message.cancelReturn();
    inFlight.delete(receipt);
    waiting.unmarkInFlight(message);
  }

  /** Discards all messages. */
  function purge(): void {
    for (let message = waiting.next(); message; message = waiting.next()) waiting.unmarkInFlight(message);
    for (const [receipt, message] of inFlight) end(message, receipt);
    messages.clear();
  }

  function show(message: Message): void {
    message.visibleAt = time.now();
    waiting.push(message);
    for (const notify of listeners) notify();
  }

  /** Returns all messages, in the order in which they were sent. */
  function all(): MessageSnapshot[] {
    return [...messages].map(({ order: _, cancelReturn: __, ...snapshot }) => snapshot);
  }

  /** Adds the messages from a snapshot. Messages in flight stay in flight and keep their receipt handles. */
  function restore(snapshots: readonly MessageSnapshot[]): void {
    for (const message of snapshots.map(add)) {
      if (message.visibleAt <= time.now()) show(message);
      else if (message.receives === 0) showLater(message);
      else {
        waiting.markInFlight(message);
        trackInFlight(message);
      }
    }
  }
}

interface Context {
  readonly time: Clock;
  readonly faults: Pick<QueueFaults, 'isRedelivered'>;
  readonly note: Note;
  readonly nextId: () => string;
  readonly arnOf: (name: string) => string;
  readonly dlq: () => { readonly enqueue: (message: SentMessage) => void } | undefined;
}

/** A sent message. Times are in milliseconds since the epoch. */
interface SentMessage {
  readonly id: string;
  readonly body: string;
  readonly group: string;
  readonly attributes: MessageAttributes;
  readonly sender: string;
  readonly sentAt: number;
}

interface Message extends SentMessage {
  readonly order: number;
  receives: number;
  visibleAt: number;
  firstReceivedAt: number;
  cancelReturn: () => void;
}

function receivedOf(message: Message, receipt: string): Received {
  const { id, body, attributes, group, sender, sentAt, firstReceivedAt, receives } = message;
  const systemAttributes = {
    SenderId: sender,
    SentTimestamp: String(sentAt),
    ApproximateReceiveCount: String(receives),
    ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
    ...(group !== '' && { MessageGroupId: group }),
  };
  return { id, receipt, body, attributes, systemAttributes };
}

/** The maximum size of a message and of a batch in bytes, including attributes. */
export const maxBytes = 1_024 * 1_024;
