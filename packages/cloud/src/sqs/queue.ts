import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSRecordAttributes } from 'aws-lambda';
import type { VirtualTime } from '../time.ts';
import type { Faults } from '../virtual/faults.ts';
import type { Note } from '../virtual/record.ts';
import { makeFairOrder } from './fair-order.ts';

/** A standard queue. Times are in seconds, as in a template. */
export interface QueueDefinition {
  readonly name: string;
  /** 30 by default. */
  readonly visibilityTimeout?: number;
  readonly deadLetters?: { readonly queue: string; readonly maxReceiveCount: number };
  /** By default true: no group of messages waits for another's backlog. */
  readonly isFair?: boolean;
  /** Milliseconds by which the count of the messages that wait is late. */
  readonly countLag?: number;
}

export interface Sent {
  readonly body: string;
  readonly group?: string | undefined;
  readonly delaySeconds?: number | undefined;
  readonly attributes?: MessageAttributes | undefined;
}

/** A message that was received. */
export interface Received {
  readonly id: string;
  readonly receipt: string;
  readonly body: string;
  readonly systemAttributes: SQSRecordAttributes;
  readonly attributes: MessageAttributes;
}

type MessageAttributes = Readonly<Record<string, MessageAttributeValue>>;

/** A queue, as others see it. */
export type Queue = ReturnType<typeof makeQueue>;

/** Makes a queue. */
export function makeQueue(definition: QueueDefinition, { time, faults, note, nextId, deadLetterQueue }: QueueWorld) {
  const { name, visibilityTimeout = 30, deadLetters, isFair = true, countLag = 0 } = definition;
  const { maxReceiveCount = Number.POSITIVE_INFINITY } = deadLetters ?? {};
  const waiting = makeFairOrder<Message>(time.now, isFair);
  const messages = new Set<Message>();
  const inFlight = new Map<string, Message>();
  let told = 0;
  let sent = 0;
  let tellVisible = () => {};
  return {
    name,
    visibilityTimeout,
    visible: waiting.size,
    /** Returns the count of the messages that wait, as it was a while ago. */
    toldVisible: () => (countLag > 0 ? told : waiting.size()),
    inFlight: () => inFlight.size,
    delayed: () => messages.size - waiting.size() - inFlight.size,
    /** Returns the bodies of all messages, in the order they were sent. */
    bodies: () => [...messages].map(({ body }) => body),
    /** Returns all messages, in the order they were sent, each with the moment from which it can be received. */
    all: () => [...messages].map(({ id, body, attributes, visibleAt }) => ({ id, body, attributes, visibleAt })),
    /** Calls back whenever a message can be received. */
    onVisible: (callback: () => void) => {
      tellVisible = callback;
    },
    send,
    take,
    receive,
    remove,
    hide,
    purge,
  };

  /** Takes a message, and returns its id. `sender` is the id of a principal. */
  function send({ body, group = '', delaySeconds = 0, attributes = {} }: Sent, sender: string): string {
    const id = nextId();
    note('message', `${name} ${id}`, () => [body, group, delaySeconds, attributes]);
    take({ id, body, group, attributes, sender, sentAt: Math.floor(time.now()) }, delaySeconds);
    return id;
  }

  /** Takes over a message, with its id. */
  function take({ id, body, group, attributes, sender, sentAt }: SentMessage, delaySeconds = 0): void {
    const visibleAt = time.now() + delaySeconds * 1_000;
    const begun = { order: sent++, receives: 0, visibleAt, firstReceivedAt: 0, cancelReturn: () => {} };
    const message: Message = { id, body, group, attributes, sender, sentAt, ...begun };
    messages.add(message);
    if (delaySeconds === 0) show(message);
    else time.at(visibleAt, () => messages.has(message) && show(message));
  }

  /** Receives messages. They stay in flight until they are removed, or until their visibility timeout, in seconds, is over. */
  function receive(most: number, seconds = visibilityTimeout): Received[] {
    const received: Received[] = [];
    while (received.length < most && inFlight.size < mostInFlight) {
      const message = waiting.next();
      if (!message) break;
      if (message.receives >= maxReceiveCount) {
        waiting.left(message);
        messages.delete(message);
        note('message', `${name} ${message.id} becomes a dead letter`);
        deadLetterQueue()?.take(message);
        continue;
      }
      message.receives += 1;
      if (message.receives === 1) message.firstReceivedAt = Math.floor(time.now());
      const receipt = `${message.id}/${message.receives}`;
      inFlight.set(receipt, message);
      hideFor(message, receipt, seconds);
      received.push(receivedOf(message, receipt));
    }
    tellCount();
    return received;
  }

  /** Removes a message, if the receipt is still that of a message in flight. */
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

  /** Changes the visibility timeout of a message in flight, in seconds from now. Returns whether the receipt is that of one. */
  function hide(receipt: string, seconds: number): boolean {
    const message = inFlight.get(receipt);
    if (message && seconds > 0) hideFor(message, receipt, seconds);
    else if (message) comeBack(message, receipt);
    return message !== undefined;
  }

  function hideFor(message: Message, receipt: string, seconds: number): void {
    message.cancelReturn();
    message.visibleAt = time.now() + seconds * 1_000;
    message.cancelReturn = time.at(message.visibleAt, () => comeBack(message, receipt));
  }

  function comeBack(message: Message, receipt: string): void {
    end(message, receipt);
    show(message);
  }

  function end(message: Message, receipt: string): void {
    message.cancelReturn();
    inFlight.delete(receipt);
    waiting.left(message);
  }

  /** Loses all messages. */
  function purge(): void {
    for (let message = waiting.next(); message; message = waiting.next()) waiting.left(message);
    for (const [receipt, message] of inFlight) end(message, receipt);
    messages.clear();
  }

  function show(message: Message): void {
    message.visibleAt = time.now();
    waiting.push(message);
    tellCount();
    tellVisible();
  }

  function tellCount(): void {
    const count = waiting.size();
    if (countLag === 0) return;
    time.after(countLag, () => {
      told = count;
    });
  }
}

interface QueueWorld {
  readonly time: Pick<VirtualTime, 'now' | 'at' | 'after'>;
  readonly faults: Pick<Faults, 'comesAgain'>;
  readonly note: Note;
  readonly nextId: () => string;
  readonly deadLetterQueue: () => { readonly take: (message: SentMessage) => void } | undefined;
}

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

const mostInFlight = 120_000;
