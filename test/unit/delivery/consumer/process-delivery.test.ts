import { beforeEach, describe, expect, it } from 'vitest';
import { makeOperatorStore } from '../../../../ops/stores/operator-store.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { answer, noon } from '../builders.ts';

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

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
    stage.answers.push(posted);
    stage.publishEvent();
    await stage.pass(1);
    expect(stage.counts).toEqual(counts);
  });

  // Bug: ten tests a minute against a receiver that answers 401 woke the on-call.
  it.each(outcomes)(
    'of a test that ends with %s is counted by what concerns operators',
    async (_, posted, __, counts) => {
      stage.answers.push(posted);
      await stage.request('POST', '/v1/webhooks/demanda.criada/teste');
      await stage.pass(1);
      expect(stage.counts).toEqual(counts);
    },
  );

  // Bug: an owner who resent 480 failed deliveries a minute woke the on-call.
  it.each([
    ['a pending delivery', 500],
    ['a held delivery', 410],
  ])('of a resend of %s is no sample of `Delivered`', async (_, first) => {
    stage.answers.push(answer(first), answer(401));
    stage.publishEvent();
    await stage.pass(1);
    const operator = makeOperatorStore({ dynamo: stage.dynamo, table: 'Webhooks', now: stage.now });
    if (first === 410) await operator.reactivate('conta-1', 'demanda.criada');
    expect(stage.counts.Delivered).toBe(0);
    delete stage.counts.Delivered;
    await stage.pass(1_000);
    const path = `/v1/webhooks/demanda.criada/entregas/${stage.only().id}/reenvio`;
    expect(await stage.request('POST', path)).toMatchObject({ status: 202 });
    await stage.pass(1);
    expect(stage.posts).toHaveLength(2);
    expect(stage.counts).not.toHaveProperty('Delivered');
  });

  it('that was given up is counted by nobody where a copy was quicker', async () => {
    stage.answers.push({ ...answer(200), takesMs: 3_000 }, { ...answer(200), takesMs: 1_000 });
    for (let copy = 0; copy < 2; copy++) stage.publishEvent({ id: 'one' });
    await stage.pass(3_000);
    expect(stage.posts).toHaveLength(2);
    expect(stage.counts).toEqual({ Delivered: 1 });
    expect(stage.logged('delivery.stale')).toBe(1);
  });

  it('has one line in the log, without URL, payload or response', async () => {
    await stage.register({ url: 'https://receiver.example.com/?token=canary-url' });
    stage.answers.push(answer(500, {}, 'canary-response'));
    const messageId = stage.publishEvent();
    await stage.pass(1);
    expect(stage.lines.map(line => JSON.parse(line))).toEqual([
      [
        'delivery.attempt',
        {
          messageId,
          deliveryId: stage.only().id,
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
  stage.answers.push({ outcome: 'connection', cause: 'reset', errorCode: 'EPIPE', durationMs: 1 });
  stage.publishEvent();
  await stage.pass(1);
  const [[, line]] = stage.lines.map(text => JSON.parse(text)) as [[string, object]];
  expect(line).toMatchObject({ result: 'connection', cause: 'reset', status: null, errorCode: 'EPIPE' });
});

describe('an attempt at a webhook that', () => {
  it('keeps failing is made by another consumer, at once', async () => {
    await stage.register({ failingSince: noon - 60_000 });
    stage.publishEvent();
    await stage.pass(1);
    expect(stage.posts).toMatchObject([{ lane: 'retry', at: noon }]);
  });

  it('is slow is made in the slow lane, and its retry is sent to the retry lane as ever', async () => {
    await stage.slowDown();
    stage.answers.push(answer(500));
    stage.publishEvent();
    await stage.pass(1);
    expect(stage.posts).toMatchObject([{ lane: 'slow' }]);
    expect(stage.only()).toMatchObject({ attempt: 2, charged: 1, wait: { nextAttemptAt: noon + 4_500 } });
    expect(stage.waiting('retries')).toHaveLength(1);
    expect(stage.waiting('slow')).toEqual([]);
  });

  it('is slow is not made while that is suspended', async () => {
    await stage.register({ status: 'suspended', suspensionReason: 'operator' });
    await stage.slowDown();
    stage.publishEvent();
    await stage.pass(1);
    expect(stage.only()).toMatchObject({ state: 'held', settledAt: noon });
    expect(stage.waiting('slow')).toEqual([]);
  });
});
