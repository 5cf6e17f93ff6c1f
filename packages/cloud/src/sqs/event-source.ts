import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type { Clock } from '../time.ts';
import { md5OfAttributes, md5OfBody } from './checksums.ts';
import type { Queue, Received } from './queue.ts';

/** A queue and the function that processes its batches. The function calls `done` with the messages that succeeded. */
export interface EventSource {
  readonly queue: Queue;
  readonly time: Clock;
  readonly process: (batch: readonly Received[], done: (succeeded: readonly Received[]) => void) => void;
  /** The maximum number of concurrent batches. It starts at 5 and increases by 5 a second while messages wait. */
  readonly concurrency: number;
  readonly batchSize: number;
  /** A period without receives. Its start and end are in milliseconds since the event source was connected. */
  readonly standstill?: { readonly from: number; readonly until: number } | undefined;
}

/** Connects a queue to a function. The concurrency never decreases. Returns a function that stops receiving. */
export function connectEventSource({
  queue,
  time,
  process,
  concurrency,
  batchSize,
  standstill,
}: EventSource): () => void {
  const startedAt = time.now();
  let capacity = Math.min(5, concurrency);
  let busy = 0;
  let isReceiveScheduled = false;
  let growsAt = Number.NEGATIVE_INFINITY;
  let isGrowthScheduled = false;
  let hasEnded = false;
  const stopListening = queue.onVisible(scheduleReceive);
  if (queue.visible() > 0) scheduleReceive();
  return function end() {
    hasEnded = true;
    stopListening();
  };

  function scheduleReceive(): void {
    if (isReceiveScheduled) return;
    if (busy >= capacity) {
      scheduleGrowth();
      return;
    }
    isReceiveScheduled = true;
    time.after(0, receive);
  }

  function receive(): void {
    const age = time.now() - startedAt;
    if (standstill && standstill.from <= age && age < standstill.until) {
      time.after(standstill.until - age, receive);
      return;
    }
    isReceiveScheduled = false;
    while (busy < capacity && !hasEnded) {
      const batch = queue.receive(batchSize);
      if (batch.length === 0) return;
      busy += 1;
      process(batch, succeeded => {
        for (const { receipt } of succeeded) queue.remove(receipt);
        busy -= 1;
        scheduleReceive();
      });
    }
    scheduleGrowth();
  }

  function scheduleGrowth(): void {
    if (isGrowthScheduled || busy < capacity || capacity >= concurrency || queue.visible() === 0) return;
    isGrowthScheduled = true;
    growsAt = Math.max(time.now(), growsAt) + 200;
    time.at(growsAt, () => {
      isGrowthScheduled = false;
      if (queue.visible() > 0 && busy >= capacity) capacity += 1;
      receive();
    });
  }
}

/** Returns the event that a function receives for messages from a queue. */
export function eventOf(batch: readonly Received[], queueArn: string): SQSEvent {
  return { Records: batch.map(message => recordOf(message, queueArn)) };
}

/**
 * Returns the messages that succeeded according to a function's response with `ReportBatchItemFailures`. The whole batch
 * fails if the response is malformed or lists a message that is not in the batch.
 */
export function succeeded(batch: readonly Received[], response: unknown): readonly Received[] {
  if (response === null || response === undefined || response === '') return batch;
  if (typeof response !== 'object') return [];
  const failures: unknown = 'batchItemFailures' in response ? response.batchItemFailures : undefined;
  if (failures === null || failures === undefined) return batch;
  if (!Array.isArray(failures)) return [];
  const failed = new Set(failures.map((failure: unknown) => Object(failure).itemIdentifier));
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
