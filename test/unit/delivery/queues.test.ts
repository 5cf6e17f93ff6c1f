import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { WaitingDelivery } from '../../../lambdas/delivery/delivery.ts';
import { makeAttemptQueue } from '../../../lambdas/delivery/queues.ts';
import { frozenClock } from '../../support/clock.ts';
import { aDelivery, noon } from './builders.ts';

/* The messages of attempts (`docs/delivery.md`, steps 5 and 7). */

const waiting = (waitMs: number): WaitingDelivery => ({
  ...aDelivery({ attempt: 3 }),
  wait: { nextAttemptAt: noon + waitMs, sweepAt: noon + waitMs + 120_000, overdueCount: 0 },
});

const queueOver = (answer: object = {}) => {
  const sent: { input: object }[] = [];
  const send = async (command: { input: object }) => {
    sent.push(command);
    return answer;
  };
  const sqs = { send } as unknown as Pick<SQSClient, 'send'>;
  return {
    queue: makeAttemptQueue({ sqs, queueUrl: 'http://queue', now: frozenClock().now, turn: () => Promise.resolve() }),
    sent,
  };
};

describe('the retry queue', () => {
  it('is sent the attempt to make, in the group of its webhook', async () => {
    const { queue, sent } = queueOver();
    await queue.send(waiting(5_000));
    expect(sent[0]?.input).toEqual({
      QueueUrl: 'http://queue',
      Entries: [
        {
          Id: '0',
          MessageBody: JSON.stringify({
            id: 'evt_000000000000000000000000001',
            accountId: 'conta-1',
            eventName: 'demanda.criada',
            attempt: 3,
          }),
          DelaySeconds: 5,
          MessageGroupId: 'conta-1#demanda.criada',
        },
      ],
    });
  });

  it.each([
    [0, 0],
    [1, 1],
    [4_001, 5],
    [900_000, 900],
    [900_001, 900],
    [-120_000, 0],
  ])(
    'delays a wait of %i ms by %i s: whole seconds, never early, never more than a queue takes',
    async (wait, delay) => {
      const { queue, sent } = queueOver();
      await queue.send(waiting(wait));
      expect(sent[0]?.input).toMatchObject({ Entries: [{ DelaySeconds: delay }] });
    },
  );

  it('is sent the messages of one turn in calls of ten, and rejects the ones that SQS does not take', async () => {
    const { queue, sent } = queueOver({ Failed: [{ Id: '1' }] });
    const all = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => queue.send(waiting(index * 1_000))));
    await queue.send(waiting(0));
    expect(sent.map(({ input }) => (input as { Entries: object[] }).Entries.length)).toEqual([10, 2, 1]);
    expect(all.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([1, 11]);
  });

  it('has sent the messages of other calls if one call fails', async () => {
    let calls = 0;
    const send = async () => {
      calls += 1;
      if (calls === 1) throw new Error('the queue is down');
      return {};
    };
    const sqs = { send } as unknown as Pick<SQSClient, 'send'>;
    const queue = makeAttemptQueue({ sqs, queueUrl: 'http://queue', now: frozenClock().now, turn: async () => {} });
    const all = await Promise.allSettled(Array.from({ length: 12 }, () => queue.send(waiting(0))));
    expect(all.map(({ status }) => status)).toEqual([...Array(10).fill('rejected'), ...Array(2).fill('fulfilled')]);
  });

  it('says which of a batch were not taken: the call succeeds all the same', async () => {
    const { queue, sent } = queueOver({ Failed: [{ Id: '1' }] });
    expect(await queue.sendAll([waiting(0), waiting(1_000)])).toEqual([waiting(1_000)]);
    expect(sent[0]?.input).toMatchObject({
      Entries: [
        { Id: '0', DelaySeconds: 0 },
        { Id: '1', DelaySeconds: 1 },
      ],
    });
  });
});
