import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Time } from '../../platform/timer.ts';
import type { Random } from '../backoff.ts';
import { busyShare } from '../lanes/concurrency-limit.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { type ConsumerState, type InFlightMessages, makeInFlightMessages } from './in-flight-messages.ts';
import { type DescribeMessage, makeMessageVisibility } from './message-visibility.ts';
import { makeQueueReceiver, receiveBatch } from './queue-receiver.ts';

/** The milliseconds for reads before and writes after an attempt. The function's timeout exceeds this time plus the attempt timeout. */
export const timeAroundAttempt = 10_000;

/**
 * The limits of a random time in milliseconds. A process stops receiving this much earlier than necessary, so processes that a burst
 * started together do not stop together. The minimum exceeds the duration of a typical receive.
 */
const minEarlyStop = 2_000;
export const maxEarlyStop = 10_000;

/** Processes one message from a queue. The consumer acknowledges a `processed` message, and defers the message if the function throws. */
export type ProcessRecord = (record: SQSRecord, consumer?: ConsumerState) => Promise<RecordOutcome>;

/** The outcome of a message. A `shed` message returns to the queue after 1 s, and a hidden message after `hiddenFor` milliseconds. */
export type RecordOutcome = 'processed' | 'shed' | { readonly hiddenFor: number };

/** Processes batches of messages from a queue. */
export type Consumer = (
  event: SQSEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<SQSBatchResponse>;

/**
 * Creates the consumer of a queue. The consumer processes all messages in a batch concurrently and acknowledges each separately.
 *
 * A batch takes as long as its slowest receiver. Until the batch ends, the process itself receives more messages, with up to 300 in flight
 * (500 in the slow lane). A hanging receiver therefore occupies only a fraction of the process. The process itself also deletes, defers or
 * sheds these messages.
 *
 * If processing fails, the consumer defers the message with a visibility timeout that increases with each receive. It hides a shed message
 * for only 1 s. A malformed message moves to the dead-letter queue.
 */
export function makeConsumer(
  dependencies: {
    readonly process: ProcessRecord;
    readonly describe: DescribeMessage;
    /** Resolves when all background work has ended. Lambda freezes the process after the response. */
    readonly settled?: () => Promise<void>;
    readonly sqs: Pick<SQSClient, 'send'>;
    readonly queueUrl: string;
    readonly attemptTimeoutMs: number;
    /** The maximum number of messages in flight. */
    readonly maxInFlight: number;
    /** Returns whether the process is likely to admit this many more messages. */
    readonly hasCapacityFor: (more: number) => boolean;
    readonly random: Random;
  } & Pick<Time, 'pause' | 'elapsed' | 'turn'> &
    DeliveryTelemetry,
): Consumer {
  const { process, settled, attemptTimeoutMs, maxInFlight, hasCapacityFor, pause, elapsed, random } = dependencies;
  const visibility = makeMessageVisibility(dependencies);
  const queue = makeQueueReceiver({ ...dependencies, visibilityMs: attemptTimeoutMs + timeAroundAttempt });

  // The response reports each failed message. If the invocation threw, Lambda would slow down the whole queue.
  return async function consume(event, context) {
    const batchItemFailures: SQSBatchItemFailure[] = [];
    const inFlight = makeInFlightMessages();
    const invocation: Invocation = {
      inFlight,
      /** Returns how much time remains to start a complete attempt, in milliseconds. */
      remainingTime: () => context.getRemainingTimeInMillis() - attemptTimeoutMs - timeAroundAttempt,
      earlyStop: minEarlyStop + random() * (maxEarlyStop - minEarlyStop),
      hasFailed: false,
      state: {
        onAttempt: inFlight.onAttempt,
        hasStopped: () => !mayReceive(invocation) && inFlight.countStarted() >= busyShare * maxInFlight,
      },
    };
    for (const record of event.Records) inFlight.add(processInitial(record));
    await receiveMore(invocation, pauseBeforeReceiving(event.Records.length));
    await settled?.();
    return { batchItemFailures };

    async function processInitial(record: SQSRecord): Promise<void> {
      const isDone = await tryProcess(record, invocation);
      if (!isDone) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  };

  /** Receives and processes more messages until no message is in flight. `wait` is the pause before the first receive. */
  async function receiveMore(invocation: Invocation, wait: number): Promise<void> {
    const { inFlight } = invocation;
    const deletions: Promise<void>[] = [];
    let processed: SQSRecord[] = [];
    for (let next = wait; inFlight.count() > 0; ) {
      const lag = await Promise.race([inFlight.untilEmpty().then(() => 0), pauseAndMeasureLag(next)]);
      deleteProcessed();
      next = await receiveIfCapacity(lag, next);
    }
    deleteProcessed();
    await Promise.all(deletions);

    /** Returns the pause before the next receive. */
    async function receiveIfCapacity(lag: number, pauseBefore: number): Promise<number> {
      if (!mayReceive(invocation)) return maxReceivePause;
      if (!hasCapacity(invocation.inFlight, lag)) return pauseWithoutCapacity;
      const records = await queue.receive();
      for (const record of records) inFlight.add(processReceived(record));
      if (records.length > 0) return pauseWhileMessages;
      return Math.min(Math.max(pauseBefore * 2, firstReceivePause), maxReceivePause);
    }

    async function processReceived(record: SQSRecord): Promise<void> {
      if (await tryProcess(record, invocation)) processed.push(record);
    }

    function deleteProcessed(): void {
      if (processed.length > 0) deletions.push(queue.deleteAll(processed));
      processed = [];
    }
  }

  /** Returns whether the message was processed. If not, the message returns after its visibility timeout. Never throws. */
  async function tryProcess(record: SQSRecord, invocation: Invocation): Promise<boolean> {
    try {
      const isTooLate = invocation.remainingTime() < 0; // a receiver always has the full attempt timeout
      const outcome = isTooLate ? 'shed' : await process(record, invocation.state);
      if (outcome === 'processed') return true;
      await (outcome === 'shed' ? visibility.shed(record) : visibility.hide(record, outcome.hiddenFor));
    } catch (error) {
      invocation.hasFailed = true;
      await visibility.defer(record, error);
    }
    return false;
  }

  /** Pauses, and returns by how many milliseconds the pause exceeded the requested time. */
  async function pauseAndMeasureLag(milliseconds: number): Promise<number> {
    const due = elapsed() + milliseconds;
    await pause(milliseconds);
    return elapsed() - due;
  }

  /** Returns whether the process can receive another batch. If the process lagged, attempts would appear slow. */
  function hasCapacity(inFlight: InFlightMessages, lag: number): boolean {
    return (
      lag <= maxPauseLag &&
      inFlight.countOwnWork() < maxOwnWork &&
      inFlight.count() > 0 &&
      inFlight.count() + receiveBatch <= maxInFlight &&
      hasCapacityFor(receiveBatch)
    );
  }
}

interface Invocation {
  readonly inFlight: InFlightMessages;
  readonly remainingTime: () => number;
  /** The process stops receiving this many milliseconds earlier than necessary. */
  readonly earlyStop: number;
  /** True after the first message was deferred. */
  hasFailed: boolean;
  readonly state: ConsumerState;
}

/** Returns whether the invocation may receive messages. Once false, it remains false. */
function mayReceive({ hasFailed, remainingTime, earlyStop }: Invocation): boolean {
  return !hasFailed && remainingTime() >= earlyStop;
}

/** Returns the first pause. More messages often follow a full batch but rarely a single message, and empty receives are billed. */
function pauseBeforeReceiving(batchSize: number): number {
  if (batchSize === receiveBatch) return pauseWhileMessages;
  return batchSize === 1 ? pauseAfterOneMessage : firstReceivePause;
}

/** A process does not receive while this many of its messages wait for the process itself instead of a receiver. */
const maxOwnWork = 30;

/** The first pause before a receive, in milliseconds. It doubles with each empty receive. */
const firstReceivePause = 100;

/** The pause after a batch of one message, in milliseconds. Most receivers respond within this time, so no receive is needed. */
const pauseAfterOneMessage = 250;

/** The maximum pause before a receive, in milliseconds. */
const maxReceivePause = 1_000;

/** The pause in milliseconds after a receive that returned messages, and before the first receive if the batch was full. */
const pauseWhileMessages = 1;

/** A process without capacity for more messages checks again after this many milliseconds. */
const pauseWithoutCapacity = 10;

/** A pause that takes this many milliseconds longer than requested shows that the event loop lags. */
const maxPauseLag = 50;
