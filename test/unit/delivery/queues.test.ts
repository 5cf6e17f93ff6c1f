import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { WaitingDelivery } from '../../../lambdas/delivery/delivery.ts';
import { makeAttemptQueue } from '../../../lambdas/delivery/queues.ts';
import { frozenClock } from '../../support/clock.ts';
import { aDelivery, noon } from './builders.ts';

const waiting = (waitMs: number): WaitingDelivery => ({
  ...aDelivery({ attempt: 3 }),
  wait: { nextAttemptAt: noon + waitMs, sweepAt: noon + waitMs + 120_000, overdueCount: 0 },
});

/** Creates a queue with a response for each call. Returns it with the inputs of the calls. */
const makeQueue = (respond: (call: number) => object = () => ({})) => {
  const sent: { readonly Entries?: readonly object[] }[] = [];
  const send = async ({ input }: { readonly input: object }) => respond(sent.push(input));
  const sqs = { send } as unknown as Pick<SQSClient, 'send'>;
  const queue = makeAttemptQueue({ sqs, queueUrl: 'http://queue', now: frozenClock().now, turn: async () => {} });
  return { queue, sent };
};

describe('the retry queue', () => {
  it('receives a message in the group of its webhook', async () => {
    const { queue, sent } = makeQueue();
    await queue.send(waiting(5_000));
    const { id, accountId, eventName } = aDelivery();
    const MessageBody = JSON.stringify({ id, accountId, eventName, attempt: 3 });
    const entry = { Id: '0', MessageBody, DelaySeconds: 5, MessageGroupId: 'conta-1#demanda.criada' };
    expect(sent).toEqual([{ QueueUrl: 'http://queue', Entries: [entry] }]);
  });

  it.each([
    [0, 0],
    [1, 1],
    [4_001, 5],
    [900_000, 900],
    [900_001, 900],
    [-120_000, 0],
  ])('delays a message with a wait of %i ms by %i s', async (wait, delay) => {
    const { queue, sent } = makeQueue();
    await queue.send(waiting(wait));
    expect(sent).toMatchObject([{ Entries: [{ DelaySeconds: delay }] }]);
  });

  it('receives the messages of one turn in calls of ten, and throws for those that SQS rejects', async () => {
    const { queue, sent } = makeQueue(() => ({ Failed: [{ Id: '1' }] }));
    const all = await Promise.allSettled(Array.from({ length: 12 }, () => queue.send(waiting(0))));
    await queue.send(waiting(0));
    expect(sent.map(({ Entries }) => Entries?.length)).toEqual([10, 2, 1]);
    expect(all.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([1, 11]);
    expect(await queue.sendAll([waiting(0), waiting(1_000)])).toEqual([waiting(1_000)]);
  });

  it('receives the messages of the other calls if one call fails', async () => {
    const { queue } = makeQueue(call => {
      if (call === 1) throw new Error('the queue is down');
      return {};
    });
    const all = await Promise.allSettled(Array.from({ length: 12 }, () => queue.send(waiting(0))));
    expect(all.map(({ status }) => status)).toEqual([...Array(10).fill('rejected'), ...Array(2).fill('fulfilled')]);
  });
});
