import { connectEventSource, eventOf, succeeded } from '../../sqs/event-source.ts';
import type { Queue, Received } from '../../sqs/queue.ts';
import type { Clock } from '../../time.ts';
import type { Invoke } from '../lambda/invocation.ts';
import type { EventSourceMapping } from './mapping.ts';

/**
 * Invokes a function with batches of a queue's messages: five at once at first, and more, up to `concurrency`, while messages remain.
 * Messages of a failed batch, and the failed ones of a partly failed batch, stay hidden until their visibility timeout ends, as on AWS.
 *
 * @returns what stops it: it receives no more messages, and resolves when the batches that are being processed have ended.
 */
export function startQueueSource(
  { batchSize, reportsItemFailures, concurrency }: Omit<EventSourceMapping, 'functionName' | 'queueArn'>,
  {
    queue,
    time,
    invoke,
  }: {
    readonly queue: Queue;
    readonly time: Clock;
    readonly invoke: Invoke;
  },
): () => Promise<void> {
  const running = new Set<Promise<void>>();
  const process = (batch: readonly Received[], done: (succeeded: readonly Received[]) => void) => {
    const run = pass(batch)
      .then(done)
      .finally(() => running.delete(run));
    running.add(run);
  };
  const end = connectEventSource({ queue, time, process, batchSize, concurrency });
  return async function stop() {
    end();
    await Promise.all(running);
  };

  /** Returns the messages that succeeded. Without `ReportBatchItemFailures`, only an error fails a batch. */
  async function pass(batch: readonly Received[]): Promise<readonly Received[]> {
    const result = await invoke(JSON.stringify(eventOf(batch, queue.arn)));
    if (result.outcome === 'failed') return [];
    return reportsItemFailures ? succeeded(batch, answerIn(result.payload)) : batch;
  }
}

/** Returns an answer; a text, which fails the batch, if it is not JSON. */
function answerIn(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}
