import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { describeError } from '../platform/telemetry.ts';
import type { ProcessRecord } from './deliver.ts';
import type { DeliveryTelemetry } from './telemetry.ts';

/** Beyond the attempt itself: reading before it and storing after it, in milliseconds. */
const timeAround = 10_000;

/** The longest that a message which could not be processed waits before it is tried again, in seconds. */
const longestDeferral = 900;

/** What a consumer stands on. */
export interface ConsumerDependencies extends DeliveryTelemetry {
  readonly process: ProcessRecord;
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  /** The longest an attempt takes, in milliseconds. */
  readonly attemptTimeoutMs: number;
}

/** A message that could not be processed waits 5 s, doubling with each receive to 15 min. In seconds. */
export const deferral = (receiveCount: number): number => Math.min(5 * 2 ** (receiveCount - 1), longestDeferral);

/** Thrown for messages of an invocation that has too little time left for a whole attempt: receivers are not cut short. */
class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/**
 * Makes the consumer of a queue: all messages of a batch at once, each acknowledged or reported on its own. What fails
 * here is ours (the store, a queue), and the message comes back after a growing wait.
 */
export const makeConsumer = (dependencies: ConsumerDependencies) => {
  const { process, sqs, queueUrl, attemptTimeoutMs, log, count } = dependencies;

  const defer = async ({ messageId, receiptHandle, attributes }: SQSRecord, error: unknown) => {
    const seconds = deferral(Number(attributes.ApproximateReceiveCount) || 1);
    count('MessageDeferred');
    log.error('message deferred', { messageId, seconds, ...describeError(error) });
    const change = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: seconds };
    try {
      await sqs.send(new ChangeMessageVisibilityCommand(change));
    } catch (failure) {
      log.warn('visibility not changed; the queue’s own holds', { messageId, ...describeError(failure) });
    }
  };

  /** Gives what is to be reported: nothing for a message that is done with. */
  const processOrDefer = async (record: SQSRecord, context: Context): Promise<SQSBatchItemFailure[]> => {
    try {
      if (context.getRemainingTimeInMillis() < attemptTimeoutMs + timeAround) throw new OutOfTimeError();
      await process(record);
      return [];
    } catch (error) {
      await defer(record, error);
      return [{ itemIdentifier: record.messageId }];
    }
  };

  // A thrown invocation would make Lambda slow the whole queue down: failures are reported message by message.
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const failures = await Promise.all(event.Records.map(record => processOrDefer(record, context)));
    return { batchItemFailures: failures.flat() };
  };
};
