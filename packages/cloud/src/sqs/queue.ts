import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSRecordAttributes } from 'aws-lambda';
import type { QueueFaults } from '../faults.ts';
import type { Clock } from '../time.ts';
import type { Note } from '../virtual/record.ts';
import { makeFairOrder } from './fair-order.ts';

/** A standard queue. Times are in seconds, as in a template. */
export interface QueueDefinition {
  readonly name: string;
  /** The visibility timeout, 30 by default. */
  readonly visibilityTimeout?: number | undefined;
  /** The maximum size of a message's body and attributes in bytes, 1 MiB by default. */
  readonly maxMessageSize?: number | undefined;
  /** The default wait time of a receive, 0 by default. */
  readonly receiveWait?: number | undefined;
  readonly deadLetters?: { readonly queue: string; readonly maxReceiveCount: number } | undefined;
  /** True by default: the queue is fair, so that no group of messages waits for another's backlog. */
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
export type KeptMessage = Readonly<Omit<Message, 'order' | 'cancelReturn'>>;

export type Queue = ReturnType<typeof makeQueue>;

export function makeQueue(definition: QueueDefinition, { time, faults, note, nextId, arnOf, deadLetters }: QueueWorld) {
  const { name, visibilityTimeout = 30, isFair = true } = definition;
  const { maxMessageSize = maxBytes, receiveWait = 0 } = definition;
  const { maxReceiveCount = Number.POSITIVE_INFINITY } = definition.deadLetters ?? {};
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
    /** Returns the number of changes to messages so far. */
    changes: () => changes,
    inFlight: () => inFlight.size,
    delayed: () => messages.size - waiting.size() - inFlight.size,
    /** Returns the bodies of all messages, in the order they were sent. */
    bodies: () => [...messages].map(({ body }) => body),
    /** Calls back whenever a message becomes visible. Returns a function that cancels the callback. */
    onVisible: (callback: () => void) => {
      listeners.add(callback);
      return () => void listeners.delete(callback);
    },
    send,
    take,
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
    take({ id, body, group, attributes, sender, sentAt: Math.floor(time.now()) }, delaySeconds);
    return id;
  }

  /** Accepts a message from another queue, with its id. */
  function take({ id, body, group, attributes, sender, sentAt }: SentMessage, delaySeconds = 0): void {
    const visibleAt = time.now() + delaySeconds * 1_000;
    const message = add({ id, body, group, attributes, sender, sentAt, receives: 0, firstReceivedAt: 0, visibleAt });
    if (delaySeconds === 0) show(message);
    else showLater(message);
  }

  function add(kept: KeptMessage): Message {
    const message: Message = { ...kept, order: sent++, cancelReturn: () => {} };
    messages.add(message);
    changes += 1;
    return message;
  }

  function showLater(message: Message): void {
    time.at(message.visibleAt, () => messages.has(message) && show(message));
  }

  /** Receives messages. They stay in flight until their removal, or the end of their visibility timeout (`seconds`). */
  function receive(most: number, seconds = visibilityTimeout): Received[] {
    const received: Received[] = [];
    while (received.length < most) {
      const message = waiting.next();
      if (!message) break;
      if (message.receives >= maxReceiveCount) {
        waiting.left(message);
        messages.delete(message);
        changes += 1;
        note('message', `${name} ${message.id} moves to the dead-letter queue`);
        deadLetters()?.take(message);
        continue;
      }
      message.receives += 1;
      if (message.receives === 1) message.firstReceivedAt = Math.floor(time.now());
      message.visibleAt = time.now() + seconds * 1_000;
      received.push(receivedOf(message, fly(message)));
    }
    return received;
  }

  /** Marks a message as in flight until a moment. Returns its receipt. */
  function fly(message: Message): string {
    const receipt = `${message.id}/${message.receives}`;
    inFlight.set(receipt, message);
    returnLater(message, receipt);
    return receipt;
  }

  /** Removes a message, if the receipt belongs to a message in flight. */
  function remove(receipt: string): void {
    const message = inFlight.get(receipt);
    if (!message) return;
    end(message, receipt);
    if (!faults.comesAgain()) {
      messages.delete(message);
      return;
    }
    note('message', `${name} ${message.id} comes again`);
    show(message);
  }

  /** Changes the visibility timeout of a message in flight, in seconds from now. Returns false for a wrong receipt. */
  function hide(receipt: string, seconds: number): boolean {
    const message = inFlight.get(receipt);
    if (!message) return false;
    message.visibleAt = time.now() + seconds * 1_000;
    if (seconds > 0) returnLater(message, receipt);
    else comeBack(message, receipt);
    return true;
  }

  function returnLater(message: Message, receipt: string): void {
    changes += 1;
    message.cancelReturn();
    message.cancelReturn = time.at(message.visibleAt, () => comeBack(message, receipt));
  }

  function comeBack(message: Message, receipt: string): void {
    end(message, receipt);
    show(message);
  }

  function end(message: Message, receipt: string): void {
    changes += 1;
    message.cancelReturn();
    inFlight.delete(receipt);
    waiting.left(message);
  }

  /** Discards all messages. */
  function purge(): void {
    for (let message = waiting.next(); message; message = waiting.next()) waiting.left(message);
    for (const [receipt, message] of inFlight) end(message, receipt);
    messages.clear();
  }

  function show(message: Message): void {
    message.visibleAt = time.now();
    waiting.push(message);
    for (const tell of listeners) tell();
  }

  /** Returns all messages, in the order they were sent. */
  function all(): KeptMessage[] {
    return [...messages].map(({ order: _, cancelReturn: __, ...kept }) => kept);
  }

  /** Adds the messages of a snapshot. Messages in flight remain in flight, with their receipts. */
  function restore(kept: readonly KeptMessage[]): void {
    for (const message of kept.map(add)) {
      if (message.visibleAt <= time.now()) show(message);
      else if (message.receives === 0) showLater(message);
      else {
        waiting.took(message);
        fly(message);
      }
    }
  }
}

interface QueueWorld {
  readonly time: Clock;
  readonly faults: Pick<QueueFaults, 'comesAgain'>;
  readonly note: Note;
  readonly nextId: () => string;
  readonly arnOf: (name: string) => string;
  readonly deadLetters: () => { readonly take: (message: SentMessage) => void } | undefined;
}

/** A message as its queue sends it. Times are in milliseconds since the epoch. */
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

/** The maximum size in bytes, with attributes, of a message and of a batch. */
export const maxBytes = 1_024 * 1_024;
