import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { describeError } from '../../platform/telemetry.ts';
import type { Time } from '../../platform/timer.ts';
import type { Random } from '../backoff.ts';
import {
  firstReceivePause,
  longestReceivePause,
  maxPauseLateness,
  messagesInOwnWork,
  mostStopsEarlier,
  pauseWhileMessages,
  pauseWithoutRoom,
  receivePauseOfOne,
  timeAroundAttempt,
} from '../limits.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { type DescribeMessage, makeMessageVisibility } from './message-visibility.ts';
import type { OnAttempt } from './process-delivery.ts';

/** Processes one message of a queue. What was `processed` is acknowledged; to throw is to defer it. */
export type ProcessRecord = (record: SQSRecord, onAttempt?: OnAttempt) => Promise<RecordOutcome>;

/** The outcome of a message. One that was `shed` comes back in a moment, and one that is hidden after so many milliseconds. */
export type RecordOutcome = 'processed' | 'shed' | { readonly hiddenFor: number };

/** The handler of a queue's batches. */
export type Consumer = (
  event: SQSEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<SQSBatchResponse>;

/**
 * Makes the consumer of a queue. All messages of a batch are processed at once, each acknowledged or reported on its own.
 *
 * A batch lasts as long as its slowest receiver, and Lambda hands a process its next batch only after that. Meanwhile the
 * process receives further messages itself, up to 300, 200 in the slow lane: a receiver that hangs takes a fraction of a process,
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
    /** Resolves when nothing is under way beside messages: after the answer the process stands still. */
    readonly settled?: () => Promise<void>;
    readonly sqs: Pick<SQSClient, 'send'>;
    readonly queueUrl: string;
    /** The timeout of an attempt, in milliseconds. */
    readonly attemptTimeoutMs: number;
    /** Messages that are processed at once at most. */
    readonly maxInFlight: number;
    readonly random: Random;
  } & Pick<Time, 'pause' | 'elapsed' | 'turn'> &
    DeliveryTelemetry,
): Consumer {
  const { process, settled, sqs, queueUrl, attemptTimeoutMs, maxInFlight, pause, elapsed, random, log, count } =
    dependencies;
  const visibility = makeMessageVisibility(dependencies);

  // A thrown invocation would make Lambda slow the whole queue down: failures are reported message by message.
  return async function consume(event, context) {
    const inFlight = new Set<Promise<void>>();
    const failed: SQSBatchItemFailure[] = [];
    const processed: SQSRecord[] = [];
    const deletions: Promise<void>[] = [];
    const stopsEarlier = random() * mostStopsEarlier;
    /** Attempts in flight: their messages only wait for receivers. */
    let attemptsInFlight = 0;
    let hasFailed = false;
    let onEmpty = () => {};

    for (const record of event.Records) begin(processGiven(record));
    let wait = pauseBeforeReceiving(event.Records.length);
    while (inFlight.size > 0) {
      const lateness = await pauseOrEnd(wait);
      deleteProcessed();
      if (!hasRoom(lateness)) {
        wait = mayReceive() ? pauseWithoutRoom : longestReceivePause;
        continue;
      }
      const records = await receive();
      for (const record of records) begin(processReceived(record));
      const longer = Math.min(Math.max(wait * 2, firstReceivePause), longestReceivePause);
      wait = records.length > 0 ? pauseWhileMessages : longer;
    }
    deleteProcessed();
    await Promise.all(deletions);
    await settled?.();
    return { batchItemFailures: failed };

    function begin(work: Promise<void>): void {
      const done = work.finally(() => {
        inFlight.delete(done);
        if (inFlight.size === 0) onEmpty();
      });
      inFlight.add(done);
    }

    /** Returns how many milliseconds late the pause was; 0 where everything was over before its end. */
    function pauseOrEnd(milliseconds: number): Promise<number> {
      return new Promise((resolve, reject) => {
        onEmpty = () => resolve(0);
        const due = elapsed() + milliseconds;
        pause(milliseconds).then(() => resolve(elapsed() - due), reject);
      });
    }

    async function processGiven(record: SQSRecord): Promise<void> {
      if (!(await processOrLeave(record))) failed.push({ itemIdentifier: record.messageId });
    }

    async function processReceived(record: SQSRecord): Promise<void> {
      if (await processOrLeave(record)) processed.push(record);
    }

    /** Returns whether the message is done with. */
    async function processOrLeave(record: SQSRecord): Promise<boolean> {
      try {
        if (remainingTime() < 0) throw new OutOfTimeError();
        const outcome = await process(record, onAttempt);
        if (outcome === 'processed') {
          count('MessageDeferred', 0);
          return true;
        }
        await (outcome === 'shed' ? visibility.shed(record) : visibility.hide(record, outcome.hiddenFor));
      } catch (error) {
        hasFailed = true;
        await visibility.defer(record, error);
      }
      return false;
    }

    /** Returns the time in which a whole attempt can still begin. */
    function remainingTime(): number {
      return context.getRemainingTimeInMillis() - attemptTimeoutMs - timeAroundAttempt;
    }

    function onAttempt(): () => void {
      attemptsInFlight += 1;
      return function onEnd() {
        attemptsInFlight -= 1;
      };
    }

    function deleteProcessed(): void {
      while (processed.length > 0) deletions.push(deleteAll(processed.splice(0, receiveBatch)));
    }

    /** Only waiting is cheap. A process that lags would make attempts look slow, and more work would not mend the store. */
    function hasRoom(lateness: number): boolean {
      return (
        lateness <= maxPauseLateness &&
        inFlight.size - attemptsInFlight < messagesInOwnWork &&
        inFlight.size > 0 &&
        inFlight.size + receiveBatch <= maxInFlight &&
        mayReceive()
      );
    }

    /** Once this does not hold it never does again in this invocation. */
    function mayReceive(): boolean {
      return !hasFailed && remainingTime() >= stopsEarlier;
    }
  };

  /** Such a message stays hidden for one attempt. If the process dies, it comes back after that. */
  async function receive(): Promise<SQSRecord[]> {
    try {
      const answer = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: receiveBatch,
          VisibilityTimeout: Math.ceil((attemptTimeoutMs + timeAroundAttempt) / 1_000),
          WaitTimeSeconds: 0, // a longer wait would outlast the batch, and be paid for
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
        }),
      );
      return (answer.Messages ?? []).map(toRecord);
    } catch (error) {
      log.warn('message.not_received', describeError(error));
      return [];
    }
  }

  /** Deletes messages. One that is not deleted comes back, and is dropped as stale. */
  async function deleteAll(records: readonly SQSRecord[]): Promise<void> {
    const Entries = records.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
    try {
      const { Failed = [] } = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
      for (const { Id, Code } of Failed) {
        log.warn('message.not_deleted', { messageId: records[Number(Id)]?.messageId, code: Code });
      }
    } catch (error) {
      for (const { messageId } of records) log.warn('message.not_deleted', { messageId, ...describeError(error) });
    }
  }
}

/** Messages that one call receives, or deletes. */
const receiveBatch = 10;

/** Behind a full batch there are more messages. Behind a single one there are none, as a rule, and a call in vain is paid for. */
function pauseBeforeReceiving(given: number): number {
  if (given === receiveBatch) return pauseWhileMessages;
  return given === 1 ? receivePauseOfOne : firstReceivePause;
}

/** Returns a received message in the form in which Lambda hands messages over. */
function toRecord({ MessageId, ReceiptHandle, Body, Attributes, MessageAttributes }: Message): SQSRecord {
  const attributes = Object.entries(MessageAttributes ?? {}).map(([name, { DataType, StringValue }]) => {
    const value = StringValue === undefined ? {} : { stringValue: StringValue };
    return [name, { dataType: DataType ?? 'String', ...value }];
  });
  return {
    messageId: MessageId ?? '',
    receiptHandle: ReceiptHandle ?? '',
    body: Body ?? '',
    attributes: { ...Attributes } as unknown as SQSRecord['attributes'],
    messageAttributes: Object.fromEntries(attributes),
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: '',
    awsRegion: '',
  };
}

/** Thrown for messages of an invocation that has too little time left for a whole attempt: receivers are not cut short. */
class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}
