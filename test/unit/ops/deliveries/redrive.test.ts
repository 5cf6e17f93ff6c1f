import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { redrive } from '../../../../ops/deliveries/redrive.ts';
import { localTarget, type Target } from '../../../../ops/stage/target.ts';
import { aTask, unread } from '../a-task.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const url = (name: string) => `https://sqs.example/${name}`;
const pause = (milliseconds: number) => new Promise<void>(resolve => setTimeout(resolve, milliseconds));

it('moves messages at the specified rate if AWS responds after 100 ms', async () => {
  const sentAt: number[] = [];
  const remaining = Array.from({ length: 100 }, (_, at) => ({
    MessageId: `${at}`,
    ReceiptHandle: `${at}`,
    Body: JSON.stringify({ id_conta: 'acme', event: 'demanda.criada', id_demanda: at + 1 }),
  }));
  const send = async (command: object) => {
    await pause(100);
    if (command instanceof SendMessageCommand) sentAt.push(Date.now());
    if (!(command instanceof ReceiveMessageCommand))
      return { Attributes: { ApproximateNumberOfMessages: `${remaining.length}` } };
    return { Messages: remaining.splice(0, command.input.MaxNumberOfMessages) };
  };
  const outputs = { EventsQueueUrl: url('events'), DeadLetterQueueUrl: url('dead'), WebhooksTable: 'Webhooks' };
  const local = localTarget({ ...outputs, Region: 'us-east-1' });
  const target = { ...local, connect: () => ({ send }), dynamo: send, clock: { ...local.clock, now: Date.now }, pause };
  const startedAt = Date.now();
  const moving = redrive({ ...aTask(target as unknown as Target), ...unread }, { ids: [], rate: 100, limit: 100 });
  await vi.runAllTimersAsync();
  expect(await moving).toMatchObject({ moved: 100, kept: [] });
  expect(Date.now() - startedAt).toBeLessThan(2_500);
  const between = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  expect(Math.min(...between)).toBeGreaterThanOrEqual(10);
});
