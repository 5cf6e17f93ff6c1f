import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { redrive } from '../../../../ops/deliveries/redrive.ts';
import { localTarget, type Target } from '../../../../ops/stage/target.ts';
import { aTask, unread } from '../a-task.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const url = (name: string) => `https://sqs.example/${name}`;
const pause = (milliseconds: number) => new Promise<void>(resolve => setTimeout(resolve, milliseconds));

/** Redrives that many letters, where AWS answers after 100 ms. Returns the moments at which messages were sent. */
async function redriven(count: number, rate: number, failing?: number, interruptsThen = false) {
  const interruption = new AbortController();
  const sentAt: number[] = [];
  const left = Array.from({ length: count }, (_, at) => ({
    ...{ id_conta: 'acme', event: 'demanda.criada', id_demanda: at + 1 },
  }));
  const send = async (command: object) => {
    await pause(100);
    if (command instanceof SendMessageCommand && sentAt.push(Date.now()) === failing) {
      if (interruptsThen) interruption.abort();
      throw new Error('not taken');
    }
    if (!(command instanceof ReceiveMessageCommand))
      return { Attributes: { ApproximateNumberOfMessages: `${left.length}` } };
    const taken = left.splice(0, command.input.MaxNumberOfMessages);
    return {
      Messages: taken.map(event => ({
        MessageId: `${event.id_demanda}`,
        ReceiptHandle: `${event.id_demanda}`,
        Body: JSON.stringify(event),
      })),
    };
  };
  const outputs = { EventsQueueUrl: url('events'), DeadLetterQueueUrl: url('dead'), WebhooksTable: 'Webhooks' };
  const local = localTarget({ ...outputs, Region: 'us-east-1' });
  const target = { ...local, connect: () => ({ send }), dynamo: send, clock: { ...local.clock, now: Date.now }, pause };
  const task = { ...aTask(target as unknown as Target), ...unread, interruption: interruption.signal };
  const began = Date.now();
  const moving = redrive(task, { ids: [], rate, limit: count }).catch(String);
  await vi.runAllTimersAsync();
  const outcome = await moving;
  return { outcome, moments: sentAt.map(at => at - began), ended: Date.now() - began };
}

// Bug: three calls for each letter, one after the other, and then a pause: 2.5 letters a second, whatever the rate.
it('moves as many letters a second as it is told, and no more', async () => {
  const { outcome, moments, ended } = await redriven(100, 100);
  expect(outcome).toMatchObject({ moved: 100, kept: [] });
  expect(ended).toBeLessThan(2_500);
  const between = moments.slice(1).map((at, index) => at - (moments[index] ?? 0));
  expect(Math.min(...between)).toBeGreaterThanOrEqual(10);
});

// Bug: the failure was dropped, and the letter named nowhere.
it('says what was not taken, though it was interrupted meanwhile', async () => {
  expect((await redriven(100, 100, 3, true)).outcome).toBe('Error: not taken');
});
