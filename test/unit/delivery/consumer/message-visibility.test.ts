import type { ChangeMessageVisibilityBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { deferralSeconds, makeMessageVisibility } from '../../../../lambdas/delivery/consumer/message-visibility.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { fakeTelemetry } from '../builders.ts';

const recordOf = (id: number) => {
  const record: Partial<SQSRecord> = { messageId: `message-${id}`, receiptHandle: `handle-${id}` };
  return record as SQSRecord;
};

/** Creates a queue that rejects each receipt handle this many times. */
const makeQueue = (rejections: Record<string, number> = {}) => {
  const calls: Record<string, number>[] = [];
  const remaining = new Map(Object.entries(rejections));
  const send = async ({ input: { Entries = [] } }: ChangeMessageVisibilityBatchCommand) => {
    calls.push(Object.fromEntries(Entries.map(entry => [entry.ReceiptHandle, entry.VisibilityTimeout])));
    const failed = Entries.filter(({ ReceiptHandle = '' }) => {
      const times = remaining.get(ReceiptHandle) ?? 0;
      remaining.set(ReceiptHandle, times - 1);
      return times > 0;
    });
    return { Failed: failed.map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })) };
  };
  const telemetry = fakeTelemetry();
  const sqs = { send } as unknown as Pick<SQSClient, 'send'>;
  const dependencies = { ...telemetry, ...systemTime, sqs, queueUrl: 'http://queue', describe: () => ({}) };
  return { ...makeMessageVisibility(dependencies), calls, telemetry };
};

it('hides the messages of one turn in calls of ten', async () => {
  const { shed, calls } = makeQueue();
  await Promise.all(Array.from({ length: 23 }, (_, id) => shed(recordOf(id))));
  expect(calls.map(call => Object.keys(call).length)).toEqual([10, 10, 3]);
});

it('sheds a message for 1 s, hides one for whole seconds, and retries once if SQS rejects the change', async () => {
  const { hide, shed, calls, telemetry } = makeQueue({ 'handle-2': 1, 'handle-3': 2 });
  await Promise.all([hide(recordOf(1), 501), hide(recordOf(2), 59_001), shed(recordOf(3))]);
  expect(calls).toEqual([
    { 'handle-1': 1, 'handle-2': 60, 'handle-3': 1 },
    { 'handle-2': 60, 'handle-3': 1 },
  ]);
  expect(telemetry.logged('message.visibility_unchanged')).toBe(1);
});

it('defers a message for 5 s, and from the sixth receive for 10 s, doubling up to 15 min', () => {
  expect([1, 5, 6, 7, 12, 13, 1_000].map(deferralSeconds)).toEqual([5, 5, 10, 20, 640, 900, 900]);
});
