import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type { Clock } from '../time.ts';
import { md5OfAttributes, md5OfBody } from './checksums.ts';
import type { Queue, Received } from './queue.ts';

/** The source queue, and the function that processes a batch. It returns the messages that succeeded as `done`. */
export interface EventSource {
  readonly queue: Queue;
  readonly time: Clock;
  readonly process: (batch: readonly Received[], done: (succeeded: readonly Received[]) => void) => void;
  /** The maximum number of concurrent batches. It starts at five, and grows by five a second while messages wait. */
  readonly concurrency: number;
  readonly batchSize: number;
  /** A period without receives, with start and end in milliseconds from the start of the cloud. */
  readonly standstill?: { readonly from: number; readonly until: number } | undefined;
}

/** Connects a queue to a function. The concurrency never shrinks. Returns a function that stops receiving. */
export function connectEventSource({
  queue,
  time,
  process,
  concurrency,
  batchSize,
  standstill,
}: EventSource): () => void {
  const began = time.now();
  let places = Math.min(5, concurrency);
  let busy = 0;
  let isReceivePlanned = false;
  let growsAt = Number.NEGATIVE_INFINITY;
  let isGrowthPlanned = false;
  let hasEnded = false;
  const stopListening = queue.onVisible(planLook);
  if (queue.visible() > 0) planLook();
  return function end() {
    hasEnded = true;
    stopListening();
  };

  function planLook(): void {
    if (isReceivePlanned) return;
    if (busy >= places) {
      planGrowth();
      return;
    }
    isReceivePlanned = true;
    time.after(0, look);
  }

  function look(): void {
    const age = time.now() - began;
    if (standstill && standstill.from <= age && age < standstill.until) {
      time.after(standstill.until - age, look);
      return;
    }
    isReceivePlanned = false;
    while (busy < places && !hasEnded) {
      const batch = queue.receive(batchSize);
      if (batch.length === 0) return;
      busy += 1;
      process(batch, succeeded => {
        for (const { receipt } of succeeded) queue.remove(receipt);
        busy -= 1;
        planLook();
      });
    }
    planGrowth();
  }

  function planGrowth(): void {
    if (isGrowthPlanned || busy < places || places >= concurrency || queue.visible() === 0) return;
    isGrowthPlanned = true;
    growsAt = Math.max(time.now(), growsAt) + 200;
    time.at(growsAt, () => {
      isGrowthPlanned = false;
      if (queue.visible() > 0 && busy >= places) places += 1;
      look();
    });
  }
}

/** Returns a function's event for messages of a queue. */
export function eventOf(batch: readonly Received[], queueArn: string): SQSEvent {
  return { Records: batch.map(message => recordOf(message, queueArn)) };
}

/**
 * Returns the messages that succeeded according to a response with `ReportBatchItemFailures`. A malformed response, or
 * one that names a message outside the batch, fails the whole batch.
 */
export function succeeded(batch: readonly Received[], answer: unknown): readonly Received[] {
  if (answer === null || answer === undefined || answer === '') return batch;
  if (typeof answer !== 'object') return [];
  const named: unknown = 'batchItemFailures' in answer ? answer.batchItemFailures : undefined;
  if (named === null || named === undefined) return batch;
  if (!Array.isArray(named)) return [];
  const failed = new Set(named.map((failure: unknown) => Object(failure).itemIdentifier));
  if ([...failed].some(id => !batch.some(message => message.id === id))) return [];
  return batch.filter(({ id }) => !failed.has(id));
}

function recordOf({ id, receipt, body, systemAttributes, attributes }: Received, queueArn: string): SQSRecord {
  return {
    messageId: id,
    receiptHandle: receipt,
    body,
    attributes: systemAttributes,
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, { DataType: dataType = '', StringValue: stringValue = '' }]) => {
        return [name, { stringValue, stringListValues: [], binaryListValues: [], dataType }];
      }),
    ),
    ...md5OfAttributes('md5OfMessageAttributes', attributes),
    md5OfBody: md5OfBody(body),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  };
}
