import { setTimeout as wait } from 'node:timers/promises';
import { GetQueueAttributesCommand, SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { EventSourceMapping } from '../../../src/local/event-sources/mapping.ts';
import { startQueueSource } from '../../../src/local/event-sources/queue-source.ts';
import type { InvocationOutcome } from '../../../src/local/lambda/invocation.ts';
import { type QueueService, startSqs } from '../../../src/local/sqs/engine.ts';
import { settingsOf } from '../sdk-client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 }); // visibility timeouts pass slowly on a busy machine

let sqs: QueueService;
let client: SQSClient;
let stop: (() => Promise<void>) | undefined;
let queues = 0;

beforeAll(async () => {
  sqs = await startSqs();
  client = new SQSClient(settingsOf(sqs.endpoint));
});
afterEach(() => stop?.());
afterAll(async () => {
  client.destroy();
  await sqs.stop();
});

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

/** A queue with those messages, polled by a source whose function is `handle`. */
const poll = async (
  bodies: readonly string[],
  handle: (event: SQSEvent) => Promise<unknown>,
  changes: Partial<EventSourceMapping> = {},
  visibilityTimeout = '1',
  more: Pick<Parameters<typeof startQueueSource>[1], 'repeats' | 'now'> = {},
): Promise<string> => {
  queues += 1;
  const name = `queue-${queues}`;
  const queueUrl = sqs.urlOf(name);
  sqs.ensureQueue({ name, attributes: { VisibilityTimeout: visibilityTimeout } });
  if (bodies.length > 0) {
    const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
  }
  const invoke = async (payload: string): Promise<InvocationOutcome> => {
    try {
      return { outcome: 'returned', payload: JSON.stringify(await handle(JSON.parse(payload))) ?? 'null' };
    } catch {
      return { outcome: 'failed', error: { errorType: 'Error', errorMessage: '' } };
    }
  };
  stop = startQueueSource(
    {
      queueArn: `arn:aws:sqs:us-east-1:000000000000:${name}`,
      batchSize: 10,
      reportsItemFailures: true,
      concurrency: 5,
      ...changes,
    },
    { client, queueUrl, invoke, ...more },
  );
  return queueUrl;
};

const remaining = async (queueUrl: string): Promise<number> => {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
  const answer = await client.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...names] }));
  return names.reduce((sum, name) => sum + Number(answer.Attributes?.[name]), 0);
};

const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 20 });

it('passes messages on as Lambda does', async () => {
  const events: SQSEvent[] = [];
  const queueUrl = await poll([], async event => void events.push(event));
  await client.send(
    new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: '{"á":1}',
      MessageAttributes: {
        text: { DataType: 'String', StringValue: 'x' },
        bytes: { DataType: 'Binary', BinaryValue: Buffer.from('y') },
      },
    }),
  );
  await until(() => expect(events).toHaveLength(1));
  expect(events[0]).toEqual({
    Records: [
      {
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        receiptHandle: expect.any(String),
        body: '{"á":1}',
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: expect.stringMatching(/^\d{13}$/),
          SenderId: expect.any(String),
          ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
        },
        messageAttributes: {
          text: { stringValue: 'x', stringListValues: [], binaryListValues: [], dataType: 'String' },
          bytes: { binaryValue: 'eQ==', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
        },
        md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
        md5OfBody: expect.stringMatching(/^[0-9a-f]{32}$/),
        eventSource: 'aws:sqs',
        eventSourceARN: expect.stringMatching(/^arn:aws:sqs:us-east-1:000000000000:queue-\d+$/),
        awsRegion: 'us-east-1',
      },
    ],
  });
  await until(async () => expect(await remaining(queueUrl)).toBe(0));
});

it('deletes what succeeded; what failed is received again after its visibility timeout', async () => {
  const seen: string[] = [];
  const queueUrl = await poll(['good', 'bad', 'good too'], async event => {
    seen.push(...event.Records.map(({ body, attributes }) => `${body} ${attributes.ApproximateReceiveCount}`));
    const failed = event.Records.filter(
      ({ body, attributes }) => body === 'bad' && attributes.ApproximateReceiveCount === '1',
    );
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });
  await until(async () => expect(await remaining(queueUrl)).toBe(0));
  expect(seen.sort()).toEqual(['bad 1', 'bad 2', 'good 1', 'good too 1']);
});

it('respects batch size and maximum concurrency', async () => {
  let running = 0;
  let most = 0;
  const sizes: number[] = [];
  const queueUrl = await poll(
    numbers(7),
    async event => {
      sizes.push(event.Records.length);
      running += 1;
      most = Math.max(most, running);
      await wait(50);
      running -= 1;
    },
    { batchSize: 2, concurrency: 2 },
  );
  await until(async () => expect(await remaining(queueUrl)).toBe(0));
  expect(most).toBe(2);
  expect(Math.max(...sizes)).toBe(2);
});

it('begins with five batches at once and adds others while messages remain', async () => {
  let begun = 0;
  let clock = 0;
  const { promise: all, resolve: finish } = Promise.withResolvers<void>();
  const queueUrl = await poll(
    numbers(7),
    async () => {
      begun += 1;
      await all;
    },
    { batchSize: 1, concurrency: 50 },
    '30',
    { now: () => clock },
  );
  for (const batches of [5, 6, 7]) {
    await until(() => expect(begun).toBe(batches));
    await wait(300); // no more, however long it waits by another clock
    expect(begun).toBe(batches);
    clock += 200;
  }
  finish();
  await until(async () => expect(await remaining(queueUrl)).toBe(0));
});

it('stops at once when idle, otherwise after the current batches', async () => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  let hasBegun = false;
  const queueUrl = await poll(['1'], () => {
    hasBegun = true;
    return finished;
  });
  await until(() => expect(hasBegun).toBe(true));
  let hasStopped = false;
  const stopped = stop?.().then(() => {
    hasStopped = true;
  });
  await wait(20);
  expect(hasStopped).toBe(false);
  finish();
  await stopped;
  expect(await remaining(queueUrl)).toBe(0);
});

it('passes a batch on twice when that fault is injected, and ignores the second result', async () => {
  let calls = 0;
  const handle = async ({ Records }: SQSEvent) => {
    calls += 1;
    return { batchItemFailures: calls === 2 ? Records.map(({ messageId }) => ({ itemIdentifier: messageId })) : [] };
  };
  const queueUrl = await poll(['once'], handle, {}, '30', { repeats: () => true });
  await until(() => expect(calls).toBe(2));
  await until(async () => expect(await remaining(queueUrl)).toBe(0));
});
