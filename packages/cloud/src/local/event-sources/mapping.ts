import * as z from 'zod';
import { functionNameIn } from '../assembly/identities.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';

/** An event source mapping of the template: a queue and the function that gets its messages. */
export interface EventSourceMapping {
  readonly queueArn: string;
  readonly functionName: string;
  readonly batchSize: number;
  readonly reportsItemFailures: boolean;
  /** Batches that may be processed at once. */
  readonly concurrency: number;
}

/** The number of batches that an event source may process at once: few at first, more while messages remain. */
export interface Scaling {
  /** The present number. */
  readonly limit: number;
  /**
   * Records a receipt.
   *
   * @param processing - batches that are being processed, with the one received
   * @param isFull - whether that batch is full, which means that messages remain
   */
  received(processing: number, isFull: boolean): void;
  /** Milliseconds until the limit may rise by one; `undefined` when it is at its maximum. */
  untilIncrease(): number | undefined;
  increase(): void;
}

/** Reads an event source mapping of the template. @throws {StartError} */
export function eventSourceOf(resource: LiveResource): EventSourceMapping {
  const properties = readProperties(mappingSchema, resource);
  return {
    queueArn: properties.EventSourceArn,
    functionName: functionNameIn(properties.FunctionName) ?? properties.FunctionName.replace(/:.*/, ''), // `name:alias`
    batchSize: properties.BatchSize,
    reportsItemFailures: properties.FunctionResponseTypes.length > 0,
    concurrency: properties.ScalingConfig?.MaximumConcurrency ?? Number.POSITIVE_INFINITY,
  };
}

/**
 * Scales an event source as Lambda scales its pollers for SQS: from five batches at once, or `maximum` where that is less,
 * by five a second. When a receipt has emptied the queue, the limit falls to the batches that are being processed.
 */
export function makeScaling(maximum: number, now: () => number = () => performance.now()): Scaling {
  const minimum = Math.min(firstBatches, maximum);
  let limit = minimum;
  let since = now();
  return {
    get limit() {
      return limit;
    },
    received: (processing, isFull) => {
      const isBurst = processing === 1;
      if (isFull && !isBurst) return;
      limit = Math.max(minimum, Math.min(limit, processing));
      since = now();
    },
    untilIncrease: () => (limit < maximum ? Math.max(0, since + increasePause - now()) : undefined),
    increase: () => {
      limit += 1;
      since = now();
    },
  };
}

const mappingSchema = z.object({
  EventSourceArn: z.string().startsWith('arn:aws:sqs:', 'only SQS queues are event sources locally'),
  FunctionName: z.string(),
  Enabled: z.literal(true, 'a disabled event source is not supported locally').default(true),
  BatchSize: z.number().int().min(1).max(10, 'batches of over 10 messages are not supported locally').default(10),
  MaximumBatchingWindowInSeconds: z.literal(0, 'batching windows are not supported locally').default(0),
  FunctionResponseTypes: z.array(z.literal('ReportBatchItemFailures')).default([]),
  ScalingConfig: z.object({ MaximumConcurrency: z.number().int().min(2) }).optional(),
  FilterCriteria: z.undefined('message filters are not supported locally').optional(),
});

/** Batches at once that Lambda begins with. */
const firstBatches = 5;

/** Milliseconds between two increases: Lambda adds up to 300 a minute. */
const increasePause = 200;
