import { describe, expect, it } from 'vitest';
import { makeOperatorStore } from '../../../../ops/stores/operator-store.ts';
import { useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { answer, noon } from '../builders.ts';

useDeliveryWorld();

describe('an attempt', () => {
  const times = { cause: null, errorCode: '', durationMs: 1 };

  const ourFault = { InternalError: 1 };
  const outcomes = [
    ['a success', answer(200), { Delivered: 1 }, {}],
    ['a failure', answer(401), { Delivered: 0 }, {}],
    ['a 410', answer(410), { Delivered: 0 }, {}],
    ['a refused address', { outcome: 'blocked', ...times }, { Delivered: 0, Blocked: 1 }, { Blocked: 1 }],
    ['a fault of ours', { outcome: 'internal_error', ...times }, { Delivered: 0, ...ourFault }, ourFault],
  ] as const;
  it.each(outcomes)('that ends with %s is counted', async (_, posted, counts) => {
    world.answers.push(posted);
    world.publishEvent();
    await world.step('first');
    expect(world.counts).toEqual(counts);
  });

  // Bug: ten tests a minute against a receiver that answers 401 woke the on-call.
  it.each(outcomes)(
    'of a test that ends with %s is counted by what concerns operators',
    async (_, posted, __, counts) => {
      world.answers.push(posted);
      await world.request('POST', '/v1/webhooks/demanda.criada/teste');
      await world.step('retry');
      await world.step('slow');
      expect(world.counts).toEqual(counts);
    },
  );

  // Bug: an owner who resent 480 failed deliveries a minute woke the on-call.
  it.each([
    ['a pending delivery', 500],
    ['a held delivery', 410],
  ])('of a resend of %s is no sample of `Delivered`', async (_, first) => {
    world.answers.push(answer(first), answer(401));
    world.publishEvent();
    await world.step('first');
    const operator = makeOperatorStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
    if (first === 410) await operator.reactivate('conta-1', 'demanda.criada');
    expect(world.counts.Delivered).toBe(0);
    delete world.counts.Delivered;
    await world.pass(1_000);
    const path = `/v1/webhooks/demanda.criada/entregas/${world.only().id}/reenvio`;
    expect(await world.request('POST', path)).toMatchObject({ status: 202 });
    await world.step('retry');
    expect(world.posts).toHaveLength(2);
    expect(world.counts).not.toHaveProperty('Delivered');
  });

  it('that was given up is counted by nobody where a copy was quicker', async () => {
    for (const id of ['one', 'one', 'another']) world.publishEvent({ id });
    world.answers.push(answer(200), { ...answer(200), takesMs: 3_000 });
    world.during.push(() => world.step('first'));
    await world.step('first');
    expect(world.posts).toHaveLength(2);
    expect(world.counts).toEqual({ Delivered: 1 });
    expect(world.logged('delivery.stale')).toBe(1);
  });

  it('has one line in the log, without URL, payload or response', async () => {
    await world.register({ url: 'https://receiver.example.com/?token=canary-url' });
    world.answers.push(answer(500, {}, 'canary-response'));
    const messageId = world.publishEvent();
    await world.step('first');
    expect(world.lines.map(line => JSON.parse(line))).toEqual([
      [
        'delivery.attempt',
        {
          messageId,
          deliveryId: world.only().id,
          account: 'conta-1',
          event: 'demanda.criada',
          attempt: 1,
          result: 'http',
          cause: null,
          status: 500,
          durationMs: 0,
          host: 'receiver.example.com',
          state: 'pending',
          nextAttemptAt: '2026-11-20T12:00:04.500Z',
        },
      ],
    ]);
  });
});

it('the log of a failed attempt names the cause and the code of the error', async () => {
  world.answers.push({ outcome: 'connection', cause: 'reset', errorCode: 'EPIPE', durationMs: 1 });
  world.publishEvent();
  await world.step('first');
  const [[, line]] = world.lines.map(text => JSON.parse(text)) as [[string, object]];
  expect(line).toMatchObject({ result: 'connection', cause: 'reset', status: null, errorCode: 'EPIPE' });
});

describe('an attempt at a webhook that', () => {
  it('keeps failing is made by another consumer, at once', async () => {
    await world.register({ failingSince: noon - 60_000 });
    world.publishEvent();
    await world.step('first');
    expect(world.posts).toEqual([]);
    const wait = { nextAttemptAt: noon, sweepAt: noon + 120_000 };
    expect(world.only()).toMatchObject({ state: 'pending', attempt: 1, charged: 0, attempts: [], wait });
    expect(world.counts).toEqual({});
    await world.step('retry');
    expect(world.posts).toMatchObject([{ lane: 'retry', at: noon }]);
  });

  it('is slow is made in the slow lane, and its retry is sent to the retry lane as ever', async () => {
    await world.slowDown();
    world.publishEvent();
    await world.step('first');
    world.answers.push(answer(500));
    await world.step('slow');
    expect(world.only()).toMatchObject({ attempt: 2, charged: 1, wait: { nextAttemptAt: noon + 4_500 } });
    expect(world.waiting('retries')).toHaveLength(1);
    expect(world.waiting('slow')).toEqual([]);
  });

  it('is slow is not made while that is suspended', async () => {
    await world.register({ status: 'suspended', suspensionReason: 'operator' });
    await world.slowDown();
    world.publishEvent();
    await world.step('first');
    expect(world.only()).toMatchObject({ state: 'held', settledAt: noon });
    expect(world.waiting('slow')).toEqual([]);
  });
});
