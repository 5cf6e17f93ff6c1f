import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { deferral, makeConsumer } from '../../../lambdas/delivery/consumer.ts';
import type { ProcessRecord } from '../../../lambdas/delivery/deliver.ts';
import { fakeTelemetry } from './builders.ts';

const recordOf = (messageId: string, receiveCount = 1) =>
  ({
    messageId,
    receiptHandle: `handle-${messageId}`,
    body: messageId,
    attributes: { ApproximateReceiveCount: String(receiveCount) },
  }) as SQSRecord;

const consumerOf = (process: ProcessRecord, { remaining = 30_000, sqsFails = false } = {}) => {
  const changes: object[] = [];
  const send = async ({ input }: { input: object }) => {
    if (sqsFails) throw new Error('no queue');
    changes.push(input);
    return {};
  };
  const telemetry = fakeTelemetry();
  const consume = makeConsumer({
    ...telemetry,
    process,
    sqs: { send } as unknown as Pick<SQSClient, 'send'>,
    queueUrl: 'http://queue',
    attemptTimeoutMs: 15_000,
  });
  const context = { getRemainingTimeInMillis: () => remaining } as Context;
  return { consume: (...records: SQSRecord[]) => consume({ Records: records }, context), changes, telemetry };
};

const failing = (...messageIds: string[]): ProcessRecord => {
  return async ({ messageId }) => {
    if (messageIds.includes(messageId)) throw new Error('the store is down: canary-7f3a');
  };
};

describe('the consumer of a queue', () => {
  it('acknowledges what was processed and reports the rest, each on its own', async () => {
    const { consume } = consumerOf(failing('b'));
    expect(await consume(recordOf('a'), recordOf('b'), recordOf('c'))).toEqual({
      batchItemFailures: [{ itemIdentifier: 'b' }],
    });
    const again = consumerOf(failing());
    expect(await again.consume(recordOf('a'))).toEqual({ batchItemFailures: [] });
  });

  it('does not throw when everything failed: Lambda would slow the queue down', async () => {
    const { consume } = consumerOf(failing('a', 'b'));
    expect((await consume(recordOf('a'), recordOf('b'))).batchItemFailures).toHaveLength(2);
  });

  it('processes all messages of a batch at once', async () => {
    let started = 0;
    let openGate = () => {};
    const gate = new Promise<void>(resolve => {
      openGate = resolve;
    });
    const { consume } = consumerOf(async () => {
      if (++started === 10) openGate();
      await gate;
    });
    const records = Array.from({ length: 10 }, (_, index) => recordOf(`m${index}`));
    expect(await consume(...records)).toEqual({ batchItemFailures: [] });
  });

  it('makes what failed wait longer each time, up to 15 min', async () => {
    const { consume, changes } = consumerOf(failing('a', 'b'));
    await consume(recordOf('a', 1), recordOf('b', 4));
    expect(changes).toEqual([
      { QueueUrl: 'http://queue', ReceiptHandle: 'handle-a', VisibilityTimeout: 5 },
      { QueueUrl: 'http://queue', ReceiptHandle: 'handle-b', VisibilityTimeout: 40 },
    ]);
    expect([1, 2, 3, 8, 9, 100, 5_000].map(deferral)).toEqual([5, 10, 20, 640, 900, 900, 900]);
  });

  it('still reports what failed when the wait cannot be changed', async () => {
    const { consume } = consumerOf(failing('a'), { sqsFails: true });
    expect((await consume(recordOf('a'))).batchItemFailures).toEqual([{ itemIdentifier: 'a' }]);
  });

  it('does not begin an attempt that the function has no time to finish', async () => {
    const processed: string[] = [];
    const { consume } = consumerOf(async ({ messageId }) => void processed.push(messageId), { remaining: 20_000 });
    expect((await consume(recordOf('a'))).batchItemFailures).toHaveLength(1);
    expect(processed).toEqual([]);
  });

  it('logs the fault’s name, not its message', async () => {
    const { consume, telemetry } = consumerOf(failing('a'));
    await consume(recordOf('a'));
    expect(telemetry.lines.join()).toContain('"errorName":"Error"');
    expect(telemetry.lines.join()).not.toContain('canary-7f3a');
    expect(telemetry.counts).toEqual({ MessageDeferred: 1 });
  });
});
