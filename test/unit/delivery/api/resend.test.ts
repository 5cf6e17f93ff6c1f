import { beforeEach, describe, expect, it } from 'vitest';
import { resendRefusal } from '../../../../lambdas/delivery/api/resend.ts';
import { makeApplyOutcome } from '../../../../lambdas/delivery/transitions.ts';
import { makeStage, type Stage, schedule } from '../../../support/stage.ts';
import { aDelivery, answer, aRecord, aWebhook, failure, internalError, noon } from '../builders.ts';

/*
 * A resend starts a new schedule, or makes the next attempt at once, uncharged (`docs/en/deliveries.md`). `transitions.test.ts` and worlds
 * judge that it does not change a delivery in flight.
 */

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

const hour = 3_600_000;
const resend = () => stage.request('POST', `/v1/webhooks/demanda.criada/entregas/${stage.only().id}/reenvio`);
/** Publishes the event, and has its first attempt end so. */
const failOnce = async (first: (typeof stage.answers)[number] = answer(500)) => {
  stage.answers.push(first);
  stage.publishEvent();
  await stage.pass(0);
};

describe('a resend of a delivery in a final state', () => {
  it('starts a new schedule under the same id, and continues the numbers of its attempts', async () => {
    const attempts = schedule.length + 1;
    stage.answers.push(...Array.from({ length: 2 * attempts }, () => answer(500)));
    stage.publishEvent();
    await stage.settle();
    await stage.pass(hour);
    expect(await resend()).toMatchObject({ status: 202, json: { id: stage.only().id } });
    await stage.settle();
    expect(stage.only()).toMatchObject({ state: 'failed', attempt: 2 * attempts + 1, charged: attempts });
    expect(new Set(stage.posts.map(({ id }) => id)).size).toBe(1);
    expect(stage.only().attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('starts the ten days of our own faults again, and their waits at a minute', async () => {
    const fault = { outcome: 'internal_error', cause: null, errorCode: 'EMFILE', durationMs: 1 } as const;
    stage.answers.push(fault, fault);
    await failOnce(fault);
    await stage.pass(60_000);
    await stage.register({ status: 'suspended', suspensionReason: 'gone' });
    await stage.pass(2 * 60_000);
    expect(stage.only()).toMatchObject({ state: 'held', internalErrors: 2 });
    await stage.skip(10 * 24 * hour);
    await stage.register();
    await resend();
    await stage.pass(0);
    expect(stage.only()).toMatchObject({ state: 'pending', wait: { nextAttemptAt: stage.now() + 60_000 } });
  });
});

describe('a resend of a waiting delivery', () => {
  it.each([
    ['its receiver asked for a longer wait', answer(503, { 'retry-after': '86400' }), 60_000, false],
    ['its message is lost', answer(500), 125_000, true],
    ['the sweeper has not sent its message', answer(503, { 'retry-after': '7200' }), 2 * hour, true],
  ])('makes its next attempt immediately if %s', async (_, first, wait, isLost) => {
    await failOnce(first);
    if (isLost) stage.lose('retries');
    await stage.skip(wait);
    await resend();
    await stage.pass(0);
    expect(stage.posts.map(({ at }) => at)).toEqual([noon, noon + wait]);
    expect(stage.only()).toMatchObject({ state: 'delivered', attempt: 3 });
  });

  it.each([
    ['a wait that the queue holds', answer(500), 4_500],
    ['a wait that the sweeper holds', answer(429, { 'retry-after': '7200' }), 2 * hour],
  ])('is not charged, and keeps %s when it fails', async (_, first, wait) => {
    await failOnce(first);
    await stage.pass(1_000);
    stage.answers.push(answer(429, { 'retry-after': '80000' }));
    await resend();
    await stage.settle();
    expect(stage.only()).toMatchObject({ state: 'delivered', attempt: 4, charged: 1 });
    const third = stage.posts[2]?.at ?? 0; // the queue delays by whole seconds, never less than was asked for
    expect(third).toBeGreaterThanOrEqual(noon + wait);
    expect(third).toBeLessThan(noon + wait + 1_000);
  });

  it('makes the earlier message of the same attempt stale while the attempt is in flight', async () => {
    stage.answers.push(answer(500), { ...answer(200), takesMs: 10_000 });
    stage.publishEvent();
    await stage.pass(2_000);
    await resend();
    await stage.pass(20_000);
    expect(stage.posts).toHaveLength(2);
    expect(stage.only()).toMatchObject({ state: 'delivered', attempt: 3 });
    expect(stage.logged('delivery.stale')).toBe(1);
  });
});

describe('an expedited attempt', () => {
  const expedited = { at: noon, originalDueAt: noon + hour };
  const wait = { nextAttemptAt: noon, sweepAt: noon + 120_000, overdueCount: 0 };
  const delivery = aDelivery({ attempt: 2, charged: 1, wait, expedited });
  const applyOutcome = makeApplyOutcome({ schedule, now: () => noon + 5_000, random: () => 1 });

  it('is repeated at once, uncharged, if it was given up', () => {
    const repeated = applyOutcome(delivery, { outcome: 'given_up', record: aRecord({ result: 'slow' }) });
    expect(repeated).toMatchObject({ state: 'pending', attempt: 3, charged: 1, expedited });
    const failed = applyOutcome(repeated, failure());
    expect(failed).toMatchObject({ attempt: 4, charged: 1, wait: { nextAttemptAt: noon + hour } });
    expect(failed).not.toHaveProperty('expedited');
  });

  it('is followed at once by the scheduled attempt if that is due by then', () => {
    const late = { ...delivery, expedited: { at: noon, originalDueAt: noon + 1_000 } };
    for (const outcome of [failure(), internalError()]) {
      const wait = { nextAttemptAt: noon + 5_000 };
      expect(applyOutcome(late, outcome)).toMatchObject({ charged: 1, wait });
    }
  });
});

it('a resend for an earlier registration is refused because the current one is suspended', () => {
  const webhook = aWebhook({ webhookId: 'webhook-2', status: 'suspended', suspensionReason: 'operator' });
  expect(resendRefusal(aDelivery(), webhook)).toBe('webhook_suspended');
});
