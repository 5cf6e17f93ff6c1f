import { attemptsPerProcess, hangsAfter, mostStopsEarlier } from '../../../lambdas/delivery/limits.ts';
import type { Random } from '../../../tools/support/random.ts';
import { Calendar } from './calendar.ts';
import type { SlowMessage, SlowQueue } from './slow-queue.ts';
import { isTurnOf, takeSlot } from './slow-slots.ts';
import { learnDuration, retryLater, type SlowWebhook } from './slow-webhook.ts';
import { step } from './steps.ts';

/** The batches that an event source has the function work on at once. It never goes back to fewer. */
export interface Places {
  readonly atFirst: number;
  readonly most: number;
  /** More a second while messages wait. */
  readonly growth: number;
}

/** How long an attempt takes at a webhook that hangs: then it is given up. */
export const deadline = 15_000;

/** The processes of the slow lane's function. */
export interface SlowConsumer {
  /** Ends the attempts that are over now, and learns what hangs by now. */
  endAttempts(now: number): void;
  /** Receives messages, and begins their attempts. */
  receive(now: number): void;
}

/** Makes the consumer of a queue. `onAttempt` is called when an attempt begins. */
export function makeSlowConsumer({
  queue,
  places,
  random,
  onAttempt,
}: {
  readonly queue: SlowQueue;
  readonly places: Places;
  readonly random: Random;
  readonly onAttempt: (webhook: SlowWebhook, now: number) => void;
}): SlowConsumer {
  const processes = Array.from({ length: places.atFirst }, makeProcess);
  const ends = new Calendar<End>();
  const hanging = new Calendar<SlowWebhook>();
  return { endAttempts, receive };

  function endAttempts(now: number): void {
    for (const webhook of hanging.take(now)) learnDuration(webhook, deadline, now);
    for (const end of ends.take(now)) {
      end.process.messages -= 1;
      if (end.attempt) endAttempt(end.attempt, now);
    }
  }

  function endAttempt({ message: { webhook, number }, took }: Attempt, now: number): void {
    webhook.attemptsUnderWay -= 1;
    learnDuration(webhook, took, now);
    if (took === deadline) retryLater(webhook, number, now, random);
  }

  /** The processes grow in number while messages wait. Each receives a batch a step while it may, and begins anew when all is over. */
  function receive(now: number): void {
    const mayGrow = queue.length() > 0 && processes.length < places.most;
    if (mayGrow && now % (1_000 / places.growth) === 0) processes.push(makeProcess());
    for (const process of processes) {
      if (queue.length() === 0) return;
      if (process.messages === 0) process.receivesUntil = now + receivesFor - random() * mostStopsEarlier;
      const mayReceive = process.messages === 0 || now < process.receivesUntil;
      if (mayReceive && process.messages + batchSize <= attemptsPerProcess.slow) receiveBatch(process, now);
    }
  }

  function receiveBatch(process: Process, now: number): void {
    for (let received = 0; received < batchSize; received++) {
      const message = queue.take();
      if (!message) return;
      process.messages += 1;
      if (isTurnOf(message)) begin(message, process, now);
      else move(message, process, now);
    }
  }

  function begin(message: SlowMessage, process: Process, now: number): void {
    const { webhook } = message;
    const took = webhook.durationFrom(now);
    webhook.attemptsUnderWay += 1;
    onAttempt(webhook, now);
    ends.add(now + took, { process, attempt: { message, took } });
    if (took > hangsAfter) hanging.add(now + hangsAfter, webhook);
  }

  /** The attempt takes another slot, and its process some time. */
  function move({ webhook, number }: SlowMessage, process: Process, now: number): void {
    takeSlot(webhook, number, queue, now);
    ends.add(now + movedIn, { process });
  }
}

interface Process {
  /** The messages that it has. */
  messages: number;
  /** From then on it receives no more until it has none. */
  receivesUntil: number;
}

function makeProcess(): Process {
  return { messages: 0, receivesUntil: 0 };
}

interface Attempt {
  readonly message: SlowMessage;
  readonly took: number;
}

/** The end of a message at its process: of its attempt, or, without one, because it was moved. */
interface End {
  readonly process: Process;
  readonly attempt?: Attempt;
}

const batchSize = 10;

/** The timeout of the function is an attempt's and 30 s; an attempt that begins needs its own and 10 s. */
const receivesFor = 20_000;

/** How long a message takes that takes another slot: three calls, and those of its batch. */
const movedIn = step;
