import type { MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { Faults } from '../faults.ts';
import type { Note } from '../record.ts';
import type { VirtualTime } from '../time.ts';
import { makeFairOrder } from './fair-order.ts';

/** A standard queue. Times are in seconds, as in a template. */
export interface QueueDefinition {
  readonly name: string;
  /** 30 by default. */
  readonly visibilityTimeout?: number;
  readonly deadLetters?: { readonly queue: string; readonly maxReceiveCount: number };
  /** Whether groups of messages are kept from each other's backlog; they are by default. */
  readonly isFair?: boolean;
  /** Milliseconds by which the counts of messages are late. */
  readonly countLag?: number;
}

/** What is sent. */
export interface Sent {
  readonly body: string;
  readonly group?: string | undefined;
  readonly delaySeconds?: number | undefined;
  readonly attributes?: Readonly<Record<string, MessageAttributeValue>> | undefined;
}

/** A message that was received. */
export interface Received {
  readonly id: string;
  readonly receipt: string;
  readonly body: string;
  readonly systemAttributes: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, MessageAttributeValue>>;
}

export type Queue = ReturnType<typeof makeQueue>;

/** Makes a queue. */
export function makeQueue({
  definition,
  time,
  faults,
  note,
  nextId,
  deadLetterQueue,
}: {
  readonly definition: QueueDefinition;
  readonly time: VirtualTime;
  readonly faults: Pick<Faults, 'comesAgain'>;
  readonly note: Note;
  readonly nextId: () => string;
  readonly deadLetterQueue: () => { readonly take: (message: Message) => void } | undefined;
}) {
  const { name, visibilityTimeout = 30, countLag = 0 } = definition;
  const waiting = makeFairOrder<Message>(time.now, definition.isFair ?? true);
  const messages = new Set<Message>();
  const inFlight = new Map<string, Message>();
  /** The counts of the last while, the oldest first. */
  const counts: { readonly at: number; readonly count: number }[] = [{ at: time.now(), count: 0 }];
  let sent = 0;
  let tellVisible = () => {};
  return {
    name,
    visibilityTimeout,
    visible: waiting.size,
    inFlight: () => inFlight.size,
    /** Returns the bodies of all messages, in the order they were sent. */
    bodies: () => [...messages].map(({ body }) => body),
    /** Calls back whenever a message can be received. */
    onVisible: (callback: () => void) => {
      tellVisible = callback;
    },
    send,
    take,
    receive,
    remove,
    hide,
    approximateCounts,
  };

  /** Takes a message, and returns its id. `sender` is the id of a principal. */
  function send({ body, group = '', delaySeconds = 0, attributes = {} }: Sent, sender: string): string {
    const id = nextId();
    note('message', `${name} ${id}`, () => [body, group, delaySeconds, attributes]);
    const message = newMessage({ id, body, group, attributes, sender, sentAt: Math.floor(time.now()) }, sent++);
    messages.add(message);
    if (delaySeconds === 0) show(message);
    else time.after(delaySeconds * 1_000, () => messages.has(message) && show(message));
    return id;
  }

  /** Takes over a message of another queue, with its id. */
  function take(message: Message): void {
    const taken = newMessage(message, sent++);
    messages.add(taken);
    show(taken);
  }

  /** Receives messages. They stay in flight for so many seconds, or until they are removed. */
  function receive(most: number, seconds = visibilityTimeout): Received[] {
    const received: Received[] = [];
    while (received.length < most && inFlight.size < mostInFlight) {
      const message = waiting.next();
      if (!message) break;
      const { maxReceiveCount = Number.POSITIVE_INFINITY } = definition.deadLetters ?? {};
      if (message.receives >= maxReceiveCount) {
        waiting.left(message);
        messages.delete(message);
        note('message', `${name} ${message.id} becomes a dead letter`);
        deadLetterQueue()?.take(message);
        continue;
      }
      message.receives += 1;
      message.firstReceivedAt ??= Math.floor(time.now());
      const receipt = `${message.id}/${message.receives}`;
      inFlight.set(receipt, message);
      hideFor(message, receipt, seconds);
      received.push(receivedOf(message, receipt));
    }
    countNow();
    return received;
  }

  /** Removes a message, if the receipt is still that of a message in flight. */
  function remove(receipt: string): void {
    const message = inFlight.get(receipt);
    if (!message) return;
    if (faults.comesAgain()) {
      note('message', `${name} ${message.id} comes again`);
      comeBack(message, receipt);
    } else {
      end(message, receipt);
      messages.delete(message);
    }
  }

  /** Lets a message in flight come back after so many seconds from now. Returns whether the receipt is that of one. */
  function hide(receipt: string, seconds: number): boolean {
    const message = inFlight.get(receipt);
    if (!message) return false;
    if (seconds === 0) comeBack(message, receipt);
    else hideFor(message, receipt, seconds);
    return true;
  }

  function hideFor(message: Message, receipt: string, seconds: number): void {
    message.cancelReturn();
    message.cancelReturn = time.after(seconds * 1_000, () => comeBack(message, receipt));
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

  function show(message: Message): void {
    waiting.push(message);
    countNow();
    tellVisible();
  }

  function countNow(): void {
    if (countLag > 0) counts.push({ at: time.now(), count: waiting.size() });
  }

  /** Returns the counts of messages, those that are visible as they were a while ago. */
  function approximateCounts() {
    while (counts[1] && counts[1].at <= time.now() - countLag) counts.shift();
    const visible = countLag > 0 ? (counts[0]?.count ?? 0) : waiting.size();
    return { visible, inFlight: inFlight.size, delayed: messages.size - waiting.size() - inFlight.size };
  }
}

interface SentMessage {
  readonly id: string;
  readonly body: string;
  readonly group: string;
  readonly attributes: Readonly<Record<string, MessageAttributeValue>>;
  readonly sender: string;
  readonly sentAt: number;
}

/** A message in a queue. */
interface Message extends SentMessage {
  readonly order: number;
  receives: number;
  firstReceivedAt: number | undefined;
  cancelReturn: () => void;
}

function newMessage({ id, body, group, attributes, sender, sentAt }: SentMessage, order: number): Message {
  const begun = { order, receives: 0, firstReceivedAt: undefined, cancelReturn: () => {} };
  return { id, body, group, attributes, sender, sentAt, ...begun };
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
