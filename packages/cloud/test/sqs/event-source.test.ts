import { expect, it } from 'vitest';
import { connectEventSource, type EventSource, eventOf, succeeded } from '../../src/sqs/event-source.ts';
import type { Received } from '../../src/sqs/queue.ts';
import { openQueues } from './open-queues.ts';

const messageOf = (id: string): Received => ({
  id,
  receipt: `${id}/1`,
  body: '{"á":1}',
  systemAttributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '1',
    SenderId: 'me',
    ApproximateFirstReceiveTimestamp: '2',
  },
  attributes: {},
});

it('creates events as Lambda does', () => {
  const attributes = { text: { DataType: 'String', StringValue: 'x' } };
  const queueArn = 'arn:aws:sqs:us-east-1:000000000000:q';
  expect(eventOf([{ ...messageOf('a'), attributes }], queueArn)).toEqual({
    Records: [
      {
        messageId: 'a',
        receiptHandle: 'a/1',
        body: '{"á":1}',
        attributes: messageOf('a').systemAttributes,
        messageAttributes: {
          text: { stringValue: 'x', stringListValues: [], binaryListValues: [], dataType: 'String' },
        },
        md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
        md5OfBody: expect.stringMatching(/^[0-9a-f]{32}$/),
        eventSource: 'aws:sqs',
        eventSourceARN: queueArn,
        awsRegion: 'us-east-1',
      },
    ],
  });
});

const all = ['a', 'b', 'c'];
const none: string[] = [];
const failures = (...itemIdentifiers: unknown[]) => ({
  batchItemFailures: itemIdentifiers.map(itemIdentifier => ({ itemIdentifier })),
});

it.each([
  // Complete success, as in https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
  [{ batchItemFailures: [] }, all],
  [{ batchItemFailures: null }, all],
  [{}, all],
  [null, all],
  [undefined, all],
  ['', all],
  // Partial success
  [failures('b'), ['a', 'c']],
  [failures('a', 'b', 'c'), none],
  [failures('a', 'a'), ['b', 'c']],
  // Complete failure
  ['not an object', none],
  [failures(''), none],
  [failures(null), none],
  [failures('unknown'), none],
  [failures('a', 'unknown'), none],
  [{ batchItemFailures: [{ itemIdentifer: 'a' }] }, none],
  [{ batchItemFailures: [null] }, none],
  [{ batchItemFailures: 'a' }, none],
])('for the response %j, treats the messages %j as successful', (response, done) => {
  expect(succeeded(all.map(messageOf), response).map(({ id }) => id)).toEqual(done);
});

it.each([
  [100, [5, 55, 100]],
  [2, [2, 2, 2]],
])('increases the concurrency while messages wait, up to %i, and never decreases it', async (concurrency, expected) => {
  const { time, queue, send } = openQueues({ visibilityTimeout: 3_600 });
  const ends: (() => void)[] = [];
  const process: EventSource['process'] = (batch, end) => ends.push(() => end(batch));
  connectEventSource({ queue, time, process, concurrency, batchSize: 1 });
  const sendAll = () => {
    for (let number = 0; number < 400; number += 1) send('a');
  };
  sendAll();
  const busy: number[] = [];
  for (const moment of [50, 10_050, 50_000]) {
    await time.runUntil(moment);
    busy.push(queue.inFlight());
  }
  expect(busy).toEqual(expected);
  queue.purge();
  for (const end of ends) end();
  await time.runUntil(3_000_000);
  sendAll();
  await time.runUntil(3_000_001);
  expect(queue.inFlight()).toBe(expected[2]);
});
