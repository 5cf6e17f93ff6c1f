import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Time } from '../../platform/timer.ts';
import type { Random } from '../backoff.ts';
import { busyShare } from '../lanes/concurrency-limit.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { type ConsumerState, type InFlightMessages, makeInFlightMessages } from './in-flight-messages.ts';
import { type DescribeMessage, makeMessageVisibility } from './message-visibility.ts';
import { makeQueueReceiver, receiveBatch } from './queue-receiver.ts';

/** The time that an invocation needs beyond the attempt: to read before it and to store after it. Its timeout leaves more. */
export const timeAroundAttempt = 10_000;

/**
 * A process stops receiving at a random time between these two before an attempt could no longer begin. The shorter one is longer than a
 * receive usually lasts. What the process holds must end before it is given more, and processes that began together, with a burst, must
 * not all stop at the same moment.
 */
const minStopsEarlier = 2_000;
export const maxStopsEarlier = 10_000;

/** Processes one message of a queue. What was `processed` is acknowledged; to throw is to defer it. */
export type ProcessRecord = (record: SQSRecord, consumer?: ConsumerState) => Promise<RecordOutcome>;

/** The outcome of a message. `shed`: it comes back in a moment. `hiddenFor`: it comes back after that many milliseconds. */
export type RecordOutcome = 'processed' | 'shed' | { readonly hiddenFor: number };

/** The handler of a queue's batches. */
export type Consumer = (
  event: SQSEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<SQSBatchResponse>;

/**
 * Creates the consumer of a queue. All messages of a batch are processed at once, each acknowledged or reported on its own.
 *
 * A batch lasts as long as its slowest receiver, and Lambda hands a process its next batch only after that. Meanwhile the
 * process receives further messages itself, up to 300, 500 in the slow lane: a receiver that hangs takes a fraction of a process,
 * not a whole one. It deletes, defers or sheds these messages itself.
 *
 * A message that cannot be processed now is deferred: its visibility timeout is set, longer with each receive. One that is shed
 * is hidden for a moment only. One that never can be processed is a poison message, which the processing itself puts into the
 * dead-letter queue.
 */
export function makeConsumer(
  dependencies: {
    readonly process: ProcessRecord;
    readonly describe: DescribeMessage;
    /** Resolves when nothing else is in progress: Lambda freezes the process after the answer. */
    readonly settled?: () => Promise<void>;
    readonly sqs: Pick<SQSClient, 'send'>;
    readonly queueUrl: string;
    /** The timeout of an attempt, in milliseconds. */
    readonly attemptTimeoutMs: number;
    /** Messages that are processed at once at most. */
    readonly maxInFlight: number;
    /** Returns whether the process is likely to admit that number of further messages. */
    readonly hasRoomFor: (more: number) => boolean;
    readonly random: Random;
  } & Pick<Time, 'pause' | 'elapsed' | 'turn'> &
    DeliveryTelemetry,
): Consumer {
  const { process, settled, attemptTimeoutMs, maxInFlight, hasRoomFor, pause, elapsed, random } = dependencies;
  const visibility = makeMessageVisibility(dependencies);
  const queue = makeQueueReceiver({ ...dependencies, visibilityMs: attemptTimeoutMs + timeAroundAttempt });

  // A thrown invocation would make Lambda slow the whole queue down: failures are reported message by message.
  return async function consume(event, context) {
    const batchItemFailures: SQSBatchItemFailure[] = [];
    const inFlight = makeInFlightMessages();
    const invocation: Invocation = {
      inFlight,
      /** Returns the time in which a whole attempt can still begin. */
      remainingTime: () => context.getRemainingTimeInMillis() - attemptTimeoutMs - timeAroundAttempt,
      stopsEarlier: minStopsEarlier + random() * (maxStopsEarlier - minStopsEarlier),
      hasFailed: false,
      state: {
        onAttempt: inFlight.onAttempt,
        hasStopped: () => !mayReceive(invocation) && inFlight.countStarted() >= busyShare * maxInFlight,
      },
    };
    for (const record of event.Records) inFlight.begin(processGiven(record));
    await receiveMeanwhile(invocation, pauseBeforeReceiving(event.Records.length));
    await settled?.();
    return { batchItemFailures };

    async function processGiven(record: SQSRecord): Promise<void> {
      const isDone = await processOrLeave(record, invocation);
      if (!isDone) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  };

  /** Receives and processes further messages until none is in flight; `wait` is the pause before the first receiving. */
  async function receiveMeanwhile(invocation: Invocation, wait: number): Promise<void> {
    const { inFlight } = invocation;
    const deletions: Promise<void>[] = [];
    let processed: SQSRecord[] = [];
    for (let next = wait; inFlight.count() > 0; ) {
      const lateness = await Promise.race([inFlight.untilEmpty().then(() => 0), pauseLate(next)]);
      deleteProcessed();
      next = await receiveIfRoom(lateness, next);
    }
    deleteProcessed();
    await Promise.all(deletions);

    /** Returns the pause before the next receiving. */
    async function receiveIfRoom(lateness: number, pauseBefore: number): Promise<number> {
      if (!mayReceive(invocation)) return maxReceivePause;
      if (!hasRoom(invocation.inFlight, lateness)) return pauseWithoutRoom;
      const records = await queue.receive();
      for (const record of records) inFlight.begin(processReceived(record));
      if (records.length > 0) return pauseWhileMessages;
      return Math.min(Math.max(pauseBefore * 2, firstReceivePause), maxReceivePause);
    }

    async function processReceived(record: SQSRecord): Promise<void> {
      if (await processOrLeave(record, invocation)) processed.push(record);
    }

    function deleteProcessed(): void {
      if (processed.length > 0) deletions.push(queue.deleteAll(processed));
      processed = [];
    }
  }

  /** Returns whether the message is done with. One that is not comes back by its visibility timeout. Never throws. */
  async function processOrLeave(record: SQSRecord, invocation: Invocation): Promise<boolean> {
    try {
      const isLate = invocation.remainingTime() < 0; // receivers are not cut short
      const outcome = isLate ? 'shed' : await process(record, invocation.state);
      if (outcome === 'processed') return true;
      await (outcome === 'shed' ? visibility.shed(record) : visibility.hide(record, outcome.hiddenFor));
    } catch (error) {
      invocation.hasFailed = true;
      await visibility.defer(record, error);
    }
    return false;
  }

  /** Returns how many milliseconds late the pause was. */
  async function pauseLate(milliseconds: number): Promise<number> {
    const due = elapsed() + milliseconds;
    await pause(milliseconds);
    return elapsed() - due;
  }

  /** Only waiting is cheap. A process that lags would make attempts look slow, and more work would not help the store. */
  function hasRoom(inFlight: InFlightMessages, lateness: number): boolean {
    return (
      lateness <= maxPauseLateness &&
      inFlight.countOwnWork() < messagesInOwnWork &&
      inFlight.count() > 0 &&
      inFlight.count() + receiveBatch <= maxInFlight &&
      hasRoomFor(receiveBatch)
    );
  }
}

interface Invocation {
  readonly inFlight: InFlightMessages;
  readonly remainingTime: () => number;
  /** The time by which it stops receiving earlier than it must, in milliseconds: drawn, so that processes do not stop together. */
  readonly stopsEarlier: number;
  /** True once a message had to be deferred. */
  hasFailed: boolean;
  readonly state: ConsumerState;
}

/** Once this does not hold it never does again in this invocation. */
function mayReceive({ hasFailed, remainingTime, stopsEarlier }: Invocation): boolean {
  return !hasFailed && remainingTime() >= stopsEarlier;
}

/** More messages wait behind a full batch, but rarely behind a single one, and an empty receive is billed. */
function pauseBeforeReceiving(given: number): number {
  if (given === receiveBatch) return pauseWhileMessages;
  return given === 1 ? receivePauseOfOne : firstReceivePause;
}

/** A process receives no more while this many of its messages wait for our own work, and not for a receiver. */
const messagesInOwnWork = 30;

/** A consumer that waits for receivers looks for further messages after this pause, which doubles while there are none. */
const firstReceivePause = 100;

/** The pause of a consumer that was given one message: by then most receivers have answered, and it asks for nothing in vain. */
const receivePauseOfOne = 250;

/** The pause doubles up to this. */
const maxReceivePause = 1_000;

/** The pause after a receive that brought messages, and before the first one if the batch was full. */
const pauseWhileMessages = 1;

/** A process that has no room for more messages looks again after this pause. */
const pauseWithoutRoom = 10;

/** A pause that lasts this much longer than asked for shows that the event loop lags. */
const maxPauseLateness = 50;
