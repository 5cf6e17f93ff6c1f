import { ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { makeConsumer } from '../../../../lambdas/delivery/consumer/batch-consumer.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { fakeTelemetry } from '../builders.ts';

/* A process needs 25 s for an attempt: the timeout of 15 s, and 10 s for other work (`docs/delivery.md`, steps 1 and 4). */

/** Runs a consumer with one message and this remaining time. Pauses end at once, with this lag. */
const consume = async (remaining: number, { random = 0.5, lag = 0 } = {}) => {
  let [attempts, receives, moment] = [0, 0, 0];
  const attempt = Promise.withResolvers<'processed'>();
  const sqs: unknown = {
    send: async (command: object) => {
      if (command instanceof ReceiveMessageCommand) receives += 1;
      return {};
    },
  };
  const consumer = makeConsumer({
    ...fakeTelemetry(),
    ...systemTime,
    process: () => {
      attempts += 1;
      return attempt.promise;
    },
    sqs: sqs as Pick<SQSClient, 'send'>,
    ...{ queueUrl: 'http://queue', describe: () => ({}), attemptTimeoutMs: 15_000, maxInFlight: 100 },
    ...{ hasCapacityFor: () => true, elapsed: () => moment, random: () => random },
    pause: async milliseconds => {
      await systemTime.turn();
      moment += milliseconds + lag;
    },
  });
  const record: Pick<SQSRecord, 'messageId' | 'attributes'> = { messageId: 'a', attributes: {} as never };
  const context: Partial<Context> = { getRemainingTimeInMillis: () => remaining };
  const response = consumer({ Records: [record as SQSRecord] }, context as Context);
  for (let round = 0; round < 10; round++) await new Promise(setImmediate);
  attempt.resolve('processed');
  return { failures: (await response).batchItemFailures.length, attempts, receives };
};

it.each([
  [25_000, { attempts: 1, failures: 0 }],
  [24_999, { attempts: 0, failures: 1 }],
])('a message is attempted only if at least 25 s are left: %i ms', async (remaining, expected) => {
  expect(await consume(remaining)).toMatchObject(expected);
});

it.each([0.37, 0.38])(
  'a process stops receiving at a random time 2 to 10 s early: 30 s left, random value %f',
  async random => {
    expect((await consume(30_000, { random })).receives > 0).toBe(random === 0.37);
  },
);

it.each([50, 51])('a process does not receive while its timers lag by more than 50 ms: %i ms', async lag => {
  expect((await consume(45_000, { lag })).receives > 0).toBe(lag <= 50);
});
