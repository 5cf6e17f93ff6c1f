import { setTimeout as wait } from 'node:timers/promises';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Invoke } from '../lambda/invocation.ts';
import { queueEvent, succeeded } from './batch.ts';
import { makeScaling } from './scaling.ts';

/** An SQS event source mapping of the template. */
export interface QueueSourceDefinition {
  readonly queueArn: string;
  readonly batchSize: number;
  /** Seconds that a batch may wait to fill up, counted from its first message. */
  readonly batchingWindow: number;
  readonly reportsItemFailures: boolean;
  /** Batches under way at once, at most. */
  readonly concurrency: number;
}

/** What a queue source stands on. */
export interface QueueSourceDependencies {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly invoke: Invoke;
  /** Whether a batch is handed over a second time, as SQS may do at any moment. Never, unless told otherwise. */
  readonly repeats?: () => boolean;
}

/** A running event source. */
export interface QueueSource {
  /** Takes no more messages; resolves when the batches under way have ended. */
  stop(): Promise<void>;
}

/**
 * Polls a queue and invokes a function with what it finds: five batches at once at first, and more, up to
 * `concurrency`, while messages remain. Messages of a failed batch, and the failed ones of a partly failed batch, stay
 * hidden until their visibility timeout ends, as on AWS.
 */
export function startQueueSource(
  { queueArn, batchSize, batchingWindow, reportsItemFailures, concurrency }: QueueSourceDefinition,
  { client, queueUrl, invoke, repeats = () => false }: QueueSourceDependencies,
): QueueSource {
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const places = makeScaling(concurrency);

  const receive = async (most: number, seconds: number): Promise<readonly Message[]> => {
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: Math.min(most, mostReceived),
      WaitTimeSeconds: seconds,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    });
    const { Messages: messages = [] } = await client.send(command, { abortSignal: stopping.signal });
    return messages;
  };

  /** Receives once, and goes on until the batch or its window is full; what was received is never dropped. */
  const collect = async (): Promise<readonly Message[]> => {
    const batch = [...(await receive(batchSize, longestPoll))];
    const deadline = Date.now() + batchingWindow * 1000;
    let size = 0;
    let measured = 0;
    while (batch.length > 0 && batch.length < batchSize && !stopping.signal.aborted) {
      const left = deadline - Date.now();
      if (left <= 0) break;
      size += payloadSize(batch.slice(measured));
      measured = batch.length;
      if (size >= fullPayload) break;
      const seconds = Math.min(Math.floor(left / 1000), longestPoll);
      const more = await receive(batchSize - batch.length, seconds).catch(() => undefined);
      if (!more) break;
      if (more.length === 0 && seconds === 0) await wait(Math.min(left, shortPause));
      batch.push(...more);
    }
    return batch;
  };

  /** The copy has no say in what becomes of the messages; it comes with or after them. */
  const repeat = async (payload: string): Promise<void> => {
    await wait(Math.random() * longestLag);
    await invoke(payload);
  };

  const process = async (batch: readonly Message[]): Promise<void> => {
    const payload = JSON.stringify(queueEvent(batch, queueArn));
    const [result] = await Promise.all([invoke(payload), repeats() ? repeat(payload) : undefined]);
    const ids = batch.map(({ MessageId = '' }) => MessageId);
    const done = new Set(succeeded(ids, result, reportsItemFailures));
    const entries = batch
      .filter(({ MessageId = '' }) => done.has(MessageId))
      .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    for (let start = 0; start < entries.length; start += mostReceived) {
      const Entries = entries.slice(start, start + mostReceived);
      await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    }
  };

  /** Resolves when a batch has ended, or when there may be a place more. */
  const placeChange = async (): Promise<void> => {
    const left = places.untilMore();
    if (left === 0) return places.addOne();
    const growth = left === undefined ? [] : [wait(left, undefined, { ref: false })];
    await Promise.race([...underWay, ...growth]);
  };

  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if (underWay.size >= places.count) {
        await placeChange();
        continue;
      }
      const batch = await collect().catch(async () => {
        if (!stopping.signal.aborted) await wait(pause);
        return [];
      });
      if (batch.length === 0) continue;
      const run: Promise<void> = process(batch)
        .catch(() => undefined) // what could not be deleted is delivered again
        .finally(() => underWay.delete(run));
      underWay.add(run);
      places.received(underWay.size, batch.length >= batchSize);
    }
  };

  const polling = poll();
  return {
    stop: async () => {
      stopping.abort();
      await polling;
      await Promise.all(underWay);
    },
  };
}

/** SQS hands out at most this many messages at once. */
const mostReceived = 10;

/** Seconds; the longest that SQS lets a receiver wait. */
const longestPoll = 20;

function payloadSize(messages: readonly Message[]): number {
  return Buffer.byteLength(JSON.stringify(messages));
}

/** Bytes; Lambda takes 6 MiB, and up to ten messages more may come with the next receipt. */
const fullPayload = 4 * 1024 * 1024;

/** Milliseconds between two looks at a queue in the last second of a window: SQS waits for whole seconds. */
const shortPause = 50;

/** Milliseconds by which a batch that is handed over a second time may lag behind. */
const longestLag = 1_000;

/** Milliseconds to wait after the queue could not be reached. */
const pause = 1_000;
