import { setTimeout } from 'node:timers/promises';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Context, SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { describeError } from '../../platform/telemetry.ts';
import { lateReceivePause, longestReceivePause, receivePauseWhileMore, shortestReceivePause } from '../limits.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { OnAttempt } from './process-delivery.ts';

/** Processes one message of a queue. To return is to acknowledge it; to throw is to leave it for later. */
export type ProcessRecord = (record: SQSRecord, onAttempt?: OnAttempt) => Promise<void>;

/** What a consumer depends on. */
export interface ConsumerDependencies extends DeliveryTelemetry {
  readonly process: ProcessRecord;
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  /** The longest an attempt takes, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** Messages that are processed at once at most. */
  readonly mostAttempts: number;
  /** Resolves after so many milliseconds, with how much longer it took. */
  readonly pause: (milliseconds: number) => Promise<number>;
}

/** The handler of a queue's batches. */
export type Consumer = (
  event: SQSEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<SQSBatchResponse>;

/**
 * Makes the consumer of a queue. All messages of a batch are processed at once, each acknowledged or reported on its own.
 *
 * A batch lasts as long as its slowest receiver, and Lambda gives a process its next batch only after that. Meanwhile the
 * process receives further messages itself, a hundred and more at once: a receiver that hangs takes a hundredth of a process, not
 * a whole one. What it receives so it deletes, or defers, itself.
 */
export function makeConsumer(dependencies: ConsumerDependencies): Consumer {
  const { process, sqs, queueUrl, attemptTimeoutMs, mostAttempts, pause, log, count } = dependencies;

  const defer = async ({ messageId, receiptHandle, attributes }: SQSRecord, error: unknown) => {
    const seconds = deferral(Number(attributes.ApproximateReceiveCount) || 1);
    count('MessageDeferred');
    log.error('message.deferred', { messageId, seconds, ...describeError(error) });
    const change = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: seconds };
    try {
      await sqs.send(new ChangeMessageVisibilityCommand(change));
    } catch (failure) {
      log.warn('message.visibility_unchanged', { messageId, ...describeError(failure) });
    }
  };

  /** What is not deleted comes back, and is dropped as stale. */
  const acknowledge = async (records: readonly SQSRecord[]) => {
    const Entries = records.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
    try {
      const { Failed = [] } = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
      for (const { Id, Code } of Failed) {
        log.warn('message.not_deleted', { messageId: records[Number(Id)]?.messageId, code: Code });
      }
    } catch (error) {
      for (const { messageId } of records) log.warn('message.not_deleted', { messageId, ...describeError(error) });
    }
  };

  /** What is received so is hidden for as long as its attempt may take: a killed process delays it no longer than that. */
  const receive = async (): Promise<SQSRecord[]> => {
    try {
      const answer = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: receiveBatch,
          VisibilityTimeout: Math.ceil((attemptTimeoutMs + timeAround) / 1_000),
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
  };

  // A thrown invocation would make Lambda slow the whole queue down: failures are reported message by message.
  return async function consume(event, context) {
    const hasTime = () => context.getRemainingTimeInMillis() >= attemptTimeoutMs + timeAround;
    const underWay = new Set<Promise<void>>();
    const failed: SQSBatchItemFailure[] = [];
    const processed: SQSRecord[] = [];
    const acknowledging: Promise<void>[] = [];

    let atReceivers = 0;
    let hasFailed = false;
    const atReceiver = () => {
      atReceivers += 1;
      return () => {
        atReceivers -= 1;
      };
    };

    /** Gives whether the message is done with. */
    const processOrDefer = async (record: SQSRecord): Promise<boolean> => {
      try {
        if (!hasTime()) throw new OutOfTimeError();
        await process(record, atReceiver);
        return true;
      } catch (error) {
        hasFailed = true;
        await defer(record, error);
        return false;
      }
    };
    const begin = (work: Promise<void>) => {
      const done = work.finally(() => underWay.delete(done));
      underWay.add(done);
    };
    const beginGiven = async (record: SQSRecord) => {
      if (!(await processOrDefer(record))) failed.push({ itemIdentifier: record.messageId });
    };
    const beginReceived = async (record: SQSRecord) => {
      if (await processOrDefer(record)) processed.push(record);
    };
    const acknowledgeProcessed = () => {
      while (processed.length > 0) acknowledging.push(acknowledge(processed.splice(0, receiveBatch)));
    };
    // Only waiting is cheap. What is behind would make attempts look slow, and the store would not get better by more work.
    const hasRoom = (lateness: number) =>
      lateness <= lateReceivePause &&
      !hasFailed &&
      underWay.size - atReceivers < receiveBatch &&
      underWay.size > 0 &&
      underWay.size + receiveBatch <= mostAttempts &&
      hasTime();

    for (const record of event.Records) begin(beginGiven(record));
    let patience = shortestReceivePause;
    while (underWay.size > 0) {
      const lateness = await Promise.race([Promise.all(underWay).then(() => 0), pause(patience)]);
      acknowledgeProcessed();
      const records = hasRoom(lateness) ? await receive() : [];
      for (const record of records) begin(beginReceived(record));
      const longer = Math.min(Math.max(patience * 2, shortestReceivePause), longestReceivePause);
      patience = records.length > 0 ? receivePauseWhileMore : longer;
    }
    acknowledgeProcessed();
    await Promise.all(acknowledging);
    return { batchItemFailures: failed };
  };
}

/** Waits by the event loop's timers, which are late when the process is behind. */
export async function systemPause(milliseconds: number): Promise<number> {
  const due = performance.now() + milliseconds;
  await setTimeout(milliseconds);
  return performance.now() - due;
}

/** A message that could not be processed waits 5 s, doubling with each receive to 15 min. In seconds. */
export function deferral(receiveCount: number): number {
  return Math.min(5 * 2 ** (receiveCount - 1), longestDeferral);
}

/** Messages that one call receives, or deletes. */
const receiveBatch = 10;

/** Beyond the attempt itself: reading before it and storing after it, in milliseconds. */
const timeAround = 10_000;

/** A received message in the form in which Lambda hands messages over. */
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

/** The longest that a message which could not be processed waits before it is tried again, in seconds. */
const longestDeferral = 900;
