import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Time } from '../../platform/timer.ts';
import type { Random } from '../backoff.ts';
import { busyShare } from '../lanes/concurrency-limit.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { type ConsumerState, type InFlightMessages, makeInFlightMessages } from './in-flight-messages.ts';
import { type DescribeMessage, makeMessageVisibility } from './message-visibility.ts';
import { makeQueueReceiver, receiveBatch } from './queue-receiver.ts';

/** The time that an invocation needs besides the attempt, for reads before and writes after it. The timeout exceeds their sum. */
export const timeAroundAttempt = 10_000;

/**
 * A process stops receiving some time before the last moment at which an attempt can start, because all its messages in flight must end
 * before Lambda invokes it again. The time is random between these two durations, so that processes that a burst started together do not
 * all stop at the same moment. The shorter duration exceeds a typical receive.
 */
const minStopsEarlier = 2_000;
export const maxStopsEarlier = 10_000;

/** Processes one message of a queue. A `processed` message is acknowledged. If the function throws, the message is deferred. */
export type ProcessRecord = (record: SQSRecord, consumer?: ConsumerState) => Promise<RecordOutcome>;

/** The outcome of a message. A `shed` message returns in a moment, and a message with `hiddenFor` after that many milliseconds. */
export type RecordOutcome = 'processed' | 'shed' | { readonly hiddenFor: number };

/** The handler of a queue's batches. */
export type Consumer = (
  event: SQSEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<SQSBatchResponse>;

/**
 * Creates the consumer of a queue. It processes all messages of a batch at once and acknowledges or reports each separately.
 *
 * A batch lasts as long as its slowest receiver, and only then does Lambda invoke the process with the next batch. Meanwhile the process
 * receives more messages itself, up to 300, or 500 in the slow lane, so that a receiver that hangs occupies only a fraction of the
 * process. The process deletes, defers or sheds these messages itself.
 *
 * A message that cannot be processed now is deferred by its visibility timeout, which grows with each receive. A message that is shed
 * is hidden only for a moment. A poison message can never be processed, so it is moved to the dead-letter queue.
 */
export function makeConsumer(
  dependencies: {
    readonly process: ProcessRecord;
    readonly describe: DescribeMessage;
    /** Resolves when no background work is left, because Lambda freezes the process after the response. */
    readonly settled?: () => Promise<void>;
    readonly sqs: Pick<SQSClient, 'send'>;
    readonly queueUrl: string;
    /** The timeout of an attempt, in milliseconds. */
    readonly attemptTimeoutMs: number;
    /** The maximum number of messages in flight. */
    readonly maxInFlight: number;
    /** Returns whether the process is likely to admit this number of further messages. */
    readonly hasRoomFor: (more: number) => boolean;
    readonly random: Random;
  } & Pick<Time, 'pause' | 'elapsed' | 'turn'> &
    DeliveryTelemetry,
): Consumer {
  const { process, settled, attemptTimeoutMs, maxInFlight, hasRoomFor, pause, elapsed, random } = dependencies;
  const visibility = makeMessageVisibility(dependencies);
  const queue = makeQueueReceiver({ ...dependencies, visibilityMs: attemptTimeoutMs + timeAroundAttempt });

  // Failures are reported for each message. If the invocation threw, Lambda would slow down the whole queue.
  return async function consume(event, context) {
    const batchItemFailures: SQSBatchItemFailure[] = [];
    const inFlight = makeInFlightMessages();
    const invocation: Invocation = {
      inFlight,
      /** Returns the time that is left to start a whole attempt. */
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

  /** Receives and processes more messages until no message is in flight. `wait` is the pause before the first receive. */
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

    /** Returns the pause before the next receive. */
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

  /** Returns whether the message is finished. Otherwise it returns after its visibility timeout. Never throws. */
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

  /** Pauses, and returns by how many milliseconds the pause was too long. */
  async function pauseLate(milliseconds: number): Promise<number> {
    const due = elapsed() + milliseconds;
    await pause(milliseconds);
    return elapsed() - due;
  }

  /** Limits our own work. A process that lags would make attempts look slow, and more work would not help the store. */
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
  /** The process stops receiving this many milliseconds earlier than necessary. It is random, so that processes do not stop together. */
  readonly stopsEarlier: number;
  /** True once a message had to be deferred. */
  hasFailed: boolean;
  readonly state: ConsumerState;
}

/** Returns whether the invocation may receive messages. Once false, it remains false. */
function mayReceive({ hasFailed, remainingTime, stopsEarlier }: Invocation): boolean {
  return !hasFailed && remainingTime() >= stopsEarlier;
}

/** Returns the first pause. More messages often wait behind a full batch but rarely behind one message, and empty receives are billed. */
function pauseBeforeReceiving(given: number): number {
  if (given === receiveBatch) return pauseWhileMessages;
  return given === 1 ? receivePauseOfOne : firstReceivePause;
}

/** A process stops receiving while this many of its messages wait for the process itself, not for a receiver. */
const messagesInOwnWork = 30;

/** A consumer that waits for receivers polls for more messages after this pause, which doubles with each empty receive. */
const firstReceivePause = 100;

/** The pause after a batch of one message. Most receivers respond within it, so that no receive is needed. */
const receivePauseOfOne = 250;

/** The upper limit of the doubling pause. */
const maxReceivePause = 1_000;

/** The pause after a receive that returned messages, and before the first receive if the batch was full. */
const pauseWhileMessages = 1;

/** A process that has no capacity for more messages checks again after this pause. */
const pauseWithoutRoom = 10;

/** A pause that takes this much longer than requested shows that the event loop lags. */
const maxPauseLateness = 50;
