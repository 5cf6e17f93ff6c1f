import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { WaitingDelivery } from '../../../lambdas/delivery/delivery.ts';
import { attemptMessage, makeAttemptQueue, makeHasMessages } from '../../../lambdas/delivery/queues.ts';
import { frozenClock } from '../../support/clock.ts';
import { aDelivery, fakeTelemetry, noon } from './builders.ts';

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
  return { queue: makeAttemptQueue({ sqs, queueUrl: 'http://queue', now: frozenClock().now }), sent };
};

describe('the retry queue', () => {
  it('is sent the attempt to make, in the group of its account', async () => {
    const { queue, sent } = queueOver();
    await queue.send(waiting(5_000));
    expect(sent[0]?.input).toEqual({
      QueueUrl: 'http://queue',
      MessageBody: JSON.stringify({
        id: 'evt_000000000000000000000000001',
        accountId: 'conta-1',
        eventName: 'demanda.criada',
        attempt: 3,
      }),
      DelaySeconds: 5,
      MessageGroupId: 'conta-1',
    });
  });

  it('is told the slot of an attempt in the slow lane', async () => {
    const { queue, sent } = queueOver();
    const waits = waiting(5_000);
    await queue.send({ ...waits, wait: { ...waits.wait, slotSeries: 7 } });
    const message = JSON.parse(Object(sent[0]?.input).MessageBody);
    expect(message).toMatchObject({ slotSeries: 7, slotAt: noon + 5_000 });
    expect(attemptMessage.parse(message)).toEqual(message);
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
      expect(sent[0]?.input).toMatchObject({ DelaySeconds: delay });
    },
  );

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

describe('whether messages wait in a queue', () => {
  const asking = (answers: (string | undefined | Error)[]) => {
    const clock = frozenClock();
    const telemetry = fakeTelemetry();
    let asked = 0;
    const send = async () => {
      const count = answers[asked++];
      if (count instanceof Error) throw count;
      return { Attributes: { ApproximateNumberOfMessages: count } };
    };
    const sqs = { send } as unknown as Pick<SQSClient, 'send'>;
    const hasMessages = makeHasMessages({ ...telemetry, sqs, queueUrl: 'http://queue', now: clock.now });
    return { hasMessages, clock, asked: () => asked, ...telemetry };
  };

  it.each([
    ['3', true],
    ['0', false],
    [undefined, false],
  ])('is what the queue says: %s', async (count, expected) => {
    expect(await asking([count]).hasMessages()).toBe(expected);
  });

  it('is asked once a second, however many ask', async () => {
    const { hasMessages, clock, asked } = asking(['1', '0']);
    expect(await Promise.all([hasMessages(), hasMessages(), hasMessages()])).toEqual([true, true, true]);
    clock.advance(999);
    expect(await hasMessages()).toBe(true);
    expect(asked()).toBe(1);
    clock.advance(1);
    expect(await hasMessages()).toBe(false);
    expect(asked()).toBe(2);
  });

  it('is no where the queue does not say', async () => {
    const { hasMessages, lines } = asking([new Error('no queue: canary-7f3a')]);
    expect(await hasMessages()).toBe(false);
    expect(lines.join()).toContain('queue.not_counted');
    expect(lines.join()).not.toContain('canary-7f3a');
  });
});
