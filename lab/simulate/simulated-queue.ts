import { Fifo } from './fifo.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * A model of an SQS standard queue. What AWS documents:
 *
 * - A message received 100 times that is received again goes to the dead-letter queue instead (`maxReceiveCount`).
 * - About 120,000 messages may be in flight: received, and neither deleted nor visible again. Beyond that nothing is received.
 *   https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
 * - A fair queue takes an account for noisy that has over 10 % of the messages in flight and at least 30, or over 10 % of the
 *   recent processing time of all consumers. Quiet accounts' messages are received first, then those of the noisy account
 *   that has the fewest in flight. It is quiet again once nothing of it waits, or after five minutes without a message sent.
 *   https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html
 *
 * AWS does not document the rest. The model guesses it against those who wait: accounts are judged once a second only; "recent"
 * is a minute; and a message that is visible again goes before those that were never received.
 */
export interface SimulatedQueue<Message extends QueuedMessage> {
  /** Sends a message, which is visible at once. */
  push(message: Message): void;
  /** Receives up to `most` messages; they are in flight until they are deleted or visible again. */
  take(most: number): Message[];
  delete(message: Message): void;
  /** Makes a message in flight visible again after this many milliseconds. */
  hide(message: Message, milliseconds: number): void;
  /** The number of visible messages. */
  length(): number;
  /** Judges which accounts are noisy; to be called once a second. */
  observe(): void;
  /** Messages that went to the dead-letter queue. */
  deadLetters(): number;
}

/** The facts that the queue knows of a message. */
export interface QueuedMessage {
  readonly account: string;
  /** The number of times that it was received from this queue. */
  receives: number;
  /** Its place among all that were sent. */
  order: number;
}

/** Makes an empty queue. `isFair`: messages of accounts that are not noisy go first. `onVisible`: called when there is one more to receive. */
export function makeSimulatedQueue<Message extends QueuedMessage>(
  time: VirtualTime,
  isFair: boolean,
  onVisible: () => void,
): SimulatedQueue<Message> {
  const groups = new Map<string, Group<Message>>();
  let order = 0;
  let visible = 0;
  let inFlight = 0;
  let deadLetters = 0;

  return {
    push(message) {
      const group = groupOf(message);
      message.order = order++;
      group.fresh.push(message);
      group.sentAt = time.now();
      visible += 1;
      onVisible();
    },
    take(most) {
      const taken: Message[] = [];
      while (taken.length < most && visible > 0 && inFlight < mostInFlight) {
        const group = next();
        const message = (group.returned.length > 0 ? group.returned : group.fresh).shift();
        visible -= 1;
        message.receives += 1;
        if (message.receives > maxReceiveCount) {
          deadLetters += 1;
          continue;
        }
        changeInFlight(group, 1);
        taken.push(message);
      }
      return taken;
    },
    delete: message => changeInFlight(groupOf(message), -1),
    hide(message, milliseconds) {
      time.at(time.now() + milliseconds, () => {
        const group = groupOf(message);
        changeInFlight(group, -1);
        group.returned.push(message);
        visible += 1;
        onVisible();
      });
    },
    length: () => visible,
    observe() {
      if (!isFair) return;
      for (const group of groups.values()) {
        changeInFlight(group, 0);
        group.recentTime = group.recentTime * (1 - 1 / recentObservations) + group.time;
        group.time = 0;
      }
      const allTime = [...groups.values()].reduce((sum, { recentTime }) => sum + recentTime, 0);
      for (const group of groups.values()) {
        const hasMany = group.inFlight >= noisyCount && group.inFlight > noisyShare * inFlight;
        const isOverShare = hasMany || group.recentTime > noisyShare * allTime;
        const isDone = lengthOf(group) === 0 || time.now() - group.sentAt > quietAfter;
        group.isNoisy = (group.isNoisy || isOverShare) && !isDone;
      }
    },
    deadLetters: () => deadLetters,
  };

  function groupOf({ account }: Message): Group<Message> {
    const name = isFair ? account : '';
    const found = groups.get(name) ?? newGroup<Message>();
    groups.set(name, found);
    return found;
  }

  /** Returns the group whose message is received next. Called while messages are visible. */
  function next(): Group<Message> {
    let best: Group<Message> | undefined;
    for (const group of groups.values()) {
      if (lengthOf(group) > 0 && (!best || isBefore(group, best))) best = group;
    }
    return best as Group<Message>;
  }

  function changeInFlight(group: Group<Message>, by: number): void {
    group.time += group.inFlight * (time.now() - group.countedAt);
    group.countedAt = time.now();
    group.inFlight += by;
    inFlight += by;
  }
}

interface Group<Message extends QueuedMessage> {
  readonly fresh: Fifo<Message>;
  readonly returned: Fifo<Message>;
  inFlight: number;
  isNoisy: boolean;
  sentAt: number;
  /** Time in flight since the last observation, of all its messages together, counted until `countedAt`. */
  time: number;
  countedAt: number;
  /** The same of the last minute, older ones counting less. */
  recentTime: number;
}

function newGroup<Message extends QueuedMessage>(): Group<Message> {
  const counts = { inFlight: 0, sentAt: 0, time: 0, countedAt: 0, recentTime: 0 };
  return { fresh: new Fifo(), returned: new Fifo(), isNoisy: false, ...counts };
}

function lengthOf({ fresh, returned }: Group<QueuedMessage>): number {
  return fresh.length + returned.length;
}

function isBefore(one: Group<QueuedMessage>, other: Group<QueuedMessage>): boolean {
  if (one.isNoisy !== other.isNoisy) return other.isNoisy;
  if (one.isNoisy && one.inFlight !== other.inFlight) return one.inFlight < other.inFlight;
  return headOf(one) < headOf(other);
}

function headOf({ fresh, returned }: Group<QueuedMessage>): number {
  return (returned.length > 0 ? returned : fresh).first().order;
}

const maxReceiveCount = 100;
const mostInFlight = 120_000;
const noisyCount = 30;
const noisyShare = 0.1;
const quietAfter = 5 * 60_000;
const recentObservations = 60;
