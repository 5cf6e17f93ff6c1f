import {
  ChangeMessageVisibilityBatchCommand,
  type ChangeMessageVisibilityBatchCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { deferral, makeMessageVisibility } from '../../../../lambdas/delivery/consumer/message-visibility.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { fakeTelemetry } from '../builders.ts';

const recordOf = (id: number) =>
  ({ messageId: `message-${id}`, receiptHandle: `handle-${id}`, attributes: {} }) as unknown as SQSRecord;

/** A queue that refuses receipts, each as many times as the test says, or answers no call at all. */
const queueThat = ({ refuses = {}, fails = false }: { refuses?: Record<string, number>; fails?: boolean } = {}) => {
  const calls: Record<string, number>[] = [];
  const left = new Map(Object.entries(refuses));
  const send = async (command: { input: ChangeMessageVisibilityBatchCommandInput }) => {
    expect(command).toBeInstanceOf(ChangeMessageVisibilityBatchCommand);
    const entries = command.input.Entries ?? [];
    calls.push(Object.fromEntries(entries.map(entry => [entry.ReceiptHandle, entry.VisibilityTimeout])));
    if (fails) throw new Error('no queue: canary-7f3a');
    const refused = entries.filter(({ ReceiptHandle = '' }) => {
      const times = left.get(ReceiptHandle) ?? 0;
      left.set(ReceiptHandle, times - 1);
      return times > 0;
    });
    return { Failed: refused.map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })) };
  };
  const telemetry = fakeTelemetry();
  const visibility = makeMessageVisibility({
    ...telemetry,
    ...systemTime,
    sqs: { send } as unknown as Pick<SQSClient, 'send'>,
    queueUrl: 'http://queue',
    describe: () => ({}),
  });
  return { ...visibility, calls, telemetry };
};

describe('messages that are shed', () => {
  it('share a call of ten, each hidden for a second', async () => {
    const { shed, calls } = queueThat();
    await Promise.all(Array.from({ length: 23 }, (_, id) => shed(recordOf(id))));
    expect(calls.map(call => Object.keys(call).length)).toEqual([10, 10, 3]);
    expect(Object.keys(Object.assign({}, ...calls))).toHaveLength(23);
    expect(new Set(Object.values(calls[0] ?? {}))).toEqual(new Set([1]));
  });

  it('are hidden anew in later calls, none twice', async () => {
    const { shed, calls } = queueThat();
    await shed(recordOf(1));
    await Promise.all([shed(recordOf(2)), shed(recordOf(3))]);
    expect(calls.map(call => Object.keys(call))).toEqual([['handle-1'], ['handle-2', 'handle-3']]);
  });

  it('are asked for once more where the queue refused some of a call', async () => {
    const { shed, calls, telemetry } = queueThat({ refuses: { 'handle-1': 1, 'handle-3': 2 } });
    await Promise.all([0, 1, 2, 3].map(id => shed(recordOf(id))));
    expect(calls.map(call => Object.keys(call))).toEqual([
      ['handle-0', 'handle-1', 'handle-2', 'handle-3'],
      ['handle-1', 'handle-3'],
    ]);
    expect(telemetry.lines.map(line => JSON.parse(line))).toEqual([
      ['message.visibility_unchanged', { messageId: 'message-3', code: 'InternalError' }],
    ]);
  });

  it('come back when their visibility timeout is over where the queue does not answer: nothing is thrown', async () => {
    const { shed, telemetry } = queueThat({ fails: true });
    await Promise.all([shed(recordOf(1)), shed(recordOf(2))]);
    expect(telemetry.lines.filter(line => line.includes('message.visibility_unchanged'))).toHaveLength(2);
    expect(telemetry.lines.join()).not.toContain('canary-7f3a');
  });
});

describe('messages that are hidden', () => {
  it('stay so for as long as they are told, in whole seconds, and share a call with what is shed', async () => {
    const { hide, shed, calls } = queueThat();
    await Promise.all([hide(recordOf(1), 501), hide(recordOf(2), 59_001), shed(recordOf(3)), hide(recordOf(4), 9_000)]);
    expect(calls).toEqual([{ 'handle-1': 1, 'handle-2': 60, 'handle-3': 1, 'handle-4': 9 }]);
  });

  it('are asked for once more where the queue refused them, for as long', async () => {
    const { hide, calls } = queueThat({ refuses: { 'handle-2': 1 } });
    await Promise.all([hide(recordOf(1), 1_000), hide(recordOf(2), 42_000)]);
    expect(calls).toEqual([{ 'handle-1': 1, 'handle-2': 42 }, { 'handle-2': 42 }]);
  });
});

describe('messages that are deferred', () => {
  // A first event that had been shed four times was deferred for 80 s by one failed read.
  it('wait for 5 s as long as they may have been shed each time before', () => {
    expect([1, 2, 3, 4, 5].map(deferral)).toEqual([5, 5, 5, 5, 5]);
  });

  it('wait longer with each further receive, up to 15 min', () => {
    expect([5, 6, 7, 12, 13, 100, 5_000].map(deferral)).toEqual([5, 10, 20, 640, 900, 900, 900]);
  });
});
