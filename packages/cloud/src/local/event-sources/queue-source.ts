import * as z from 'zod';
import { connectEventSource, eventOf, succeeded } from '../../sqs/event-source.ts';
import type { Queue, Received } from '../../sqs/queue.ts';
import type { Clock } from '../../time.ts';
import { type LiveResource, readProperties } from '../assembly/resources.ts';
import type { Invoke } from '../lambda/invocation.ts';

/** Parses an event source mapping in the template. @throws {StartError} */
export function eventSourceOf(resource: LiveResource) {
  const { EventSourceArn, FunctionName, BatchSize, ScalingConfig } = readProperties(mappingSchema, resource);
  return {
    queueArn: EventSourceArn,
    functionName: FunctionName.replace(/:.*/, ''), // `name:alias`
    batchSize: BatchSize,
    /** The maximum number of concurrent batches. */
    concurrency: ScalingConfig.MaximumConcurrency,
  };
}

/** A queue and the function that consumes its messages. */
interface QueueSource {
  readonly queue: Queue;
  readonly invoke: Invoke;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly time: Clock;
}

/**
 * Invokes a function with batches of a queue's messages. The concurrency starts at 5 and increases up to `concurrency`
 * while messages wait. As on AWS, failed messages stay hidden until their visibility timeout expires.
 *
 * @returns a function that stops receiving and resolves when the running batches are complete
 */
export function startQueueSource(source: QueueSource): () => Promise<void> {
  const { queue, invoke, batchSize, concurrency, time } = source;
  const running = new Set<Promise<void>>();
  const process = (batch: readonly Received[], done: (succeeded: readonly Received[]) => void) => {
    const run = processBatch(batch)
      .then(done)
      .finally(() => running.delete(run));
    running.add(run);
  };
  const end = connectEventSource({ queue, time, process, batchSize, concurrency });
  return async function stop() {
    end();
    await Promise.all(running);
  };

  /** Passes a batch to the function. Returns the messages that succeeded. */
  async function processBatch(batch: readonly Received[]): Promise<readonly Received[]> {
    const result = await invoke(JSON.stringify(eventOf(batch, queue.arn)));
    return result.outcome === 'failed' ? [] : succeeded(batch, JSON.parse(result.payload));
  }
}

const mappingSchema = z.object({
  EventSourceArn: z.string().startsWith('arn:aws:sqs:', 'only SQS queues are supported as event sources locally'),
  FunctionName: z.string(),
  Enabled: z.literal(true).default(true),
  BatchSize: z.int().min(1).max(10, 'batches of over 10 messages are not supported locally'),
  MaximumBatchingWindowInSeconds: z.literal(0, 'batching windows are not supported locally').default(0),
  FunctionResponseTypes: z.tuple([z.literal('ReportBatchItemFailures')]),
  ScalingConfig: z.object({ MaximumConcurrency: z.int() }),
  FilterCriteria: z.undefined('message filters are not supported locally').optional(),
});
