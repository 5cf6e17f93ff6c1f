import { setTimeout as wait } from 'node:timers/promises';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Invoke } from '../lambda/invocation.ts';
import { queueEvent, succeeded } from './batch.ts';
import { type EventSourceMapping, makeScaling } from './mapping.ts';

/**
 * Polls a queue and invokes a function with batches of its messages: five at once at first, and more, up to `concurrency`,
 * while messages remain. Messages of a failed batch, and the failed ones of a partly failed batch, stay hidden until their
 * visibility timeout ends, as on AWS.
 *
 * @returns what stops it: it receives no more messages, and resolves when the batches that are being processed have ended.
 */
export function startQueueSource(
  { queueArn, batchSize, reportsItemFailures, concurrency }: Omit<EventSourceMapping, 'functionName'>,
  {
    client,
    queueUrl,
    invoke,
    repeats = () => false,
    now = () => performance.now(),
  }: {
    readonly client: Pick<SQSClient, 'send'>;
    readonly queueUrl: string;
    readonly invoke: Invoke;
    /** Returns whether a batch is passed on a second time, as SQS may do at any moment. @default - never */
    readonly repeats?: () => boolean;
    /** Milliseconds of a clock that the scaling goes by. @default - this machine's */
    readonly now?: () => number;
  },
): () => Promise<void> {
  const stopping = new AbortController();
  const processing = new Set<Promise<void>>();
  const scaling = makeScaling(concurrency, now);

  const receive = async (): Promise<readonly Message[]> => {
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      WaitTimeSeconds: longestPoll,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    });
    const { Messages: messages = [] } = await client.send(command, { abortSignal: stopping.signal });
    return messages;
  };

  /** Passes a batch on a second time, during the first invocation or after it. The result is ignored. */
  const repeat = async (payload: string): Promise<void> => {
    await wait(Math.random() * longestLag);
    await invoke(payload);
  };

  const process = async (batch: readonly Message[]): Promise<void> => {
    const payload = JSON.stringify(queueEvent(batch, queueArn));
    const [result] = await Promise.all([invoke(payload), repeats() ? repeat(payload) : undefined]);
    const ids = batch.map(({ MessageId = '' }) => MessageId);
    const done = new Set(succeeded(ids, result, reportsItemFailures));
    const Entries = batch
      .filter(({ MessageId = '' }) => done.has(MessageId))
      .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    if (Entries.length > 0) await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
  };

  /** Resolves when a batch has ended, or when the limit has risen. */
  const capacityChange = async (): Promise<void> => {
    const left = scaling.untilIncrease();
    if (left === 0) return scaling.increase();
    const increase = left === undefined ? [] : [wait(left, undefined, { ref: false })];
    await Promise.race([...processing, ...increase]);
  };

  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if (processing.size >= scaling.limit) {
        await capacityChange();
        continue;
      }
      const batch = await receive().catch(async () => {
        if (!stopping.signal.aborted) await wait(pause);
        return [];
      });
      if (batch.length === 0) continue;
      const run: Promise<void> = process(batch)
        .catch(() => undefined) // messages that could not be deleted are received again
        .finally(() => processing.delete(run));
      processing.add(run);
      scaling.received(processing.size, batch.length >= batchSize);
    }
  };

  const polling = poll();
  return async function stop() {
    stopping.abort();
    await polling;
    await Promise.all(processing);
  };
}

/** Seconds; the longest that SQS lets a receiver wait. */
const longestPoll = 20;

/** The longest delay of a batch that is passed on a second time, in milliseconds. */
const longestLag = 1_000;

/** Milliseconds to wait when the queue could not be reached. */
const pause = 1_000;
