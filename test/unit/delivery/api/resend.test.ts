import { beforeEach, describe, expect, it } from 'vitest';
import { resendRefusal } from '../../../../lambdas/delivery/api/resend.ts';
import { makeApplyOutcome } from '../../../../lambdas/delivery/transitions.ts';
import { makeStage, type Stage, schedule } from '../../../support/stage.ts';
import { aDelivery, answer, aRecord, aWebhook, failure, internalError, noon } from '../builders.ts';

/* A resend starts a new schedule, or makes the next attempt at once, uncharged (`docs/en/deliveries.md`). */

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
  // A receiver that asked for a day's wait and was repaired after a minute got nothing for a day.
  it('expedites its next attempt, even before Retry-After', async () => {
    await failOnce(answer(503, { 'retry-after': '86400' }));
    await stage.pass(60_000);
    await resend();
    await stage.pass(0);
    expect(stage.posts.map(({ at }) => at)).toEqual([noon, noon + 60_000]);
    expect(stage.only()).toMatchObject({ state: 'delivered', attempt: 3 });
  });

  it.each([
    ['a wait that the queue holds', answer(500), 4_500],
    ['a wait that the sweeper holds', answer(429, { 'retry-after': '7200' }), 2 * hour],
  ])('is not charged, and keeps %s when it fails', async (_, first, wait) => {
    stage.answers.push(first, answer(429, { 'retry-after': '80000' }));
    stage.publishEvent();
    await stage.pass(1_000);
    await resend();
    await stage.pass(0);
    const delivery = stage.only();
    expect(delivery).toMatchObject({ state: 'pending', attempt: 3, charged: 1 });
    expect(delivery.wait?.nextAttemptAt).toBe(noon + wait);
    expect(delivery).not.toHaveProperty('expedited');
    await stage.settle();
    expect(stage.posts).toHaveLength(3);
    // The queue delays by whole seconds, and never less than was asked for.
    expect((stage.posts[2]?.at ?? 0) - noon).toBeGreaterThanOrEqual(wait);
    expect((stage.posts[2]?.at ?? 0) - noon).toBeLessThan(wait + 1_000);
    expect(stage.only()).toMatchObject({ state: 'delivered', attempt: 4 });
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

  it('does not change a delivery whose attempt is in flight', async () => {
    stage.answers.push(answer(500), { ...answer(500), takesMs: 5_000 });
    stage.publishEvent();
    await stage.pass(7_000);
    await resend();
    await stage.pass(5_000);
    expect(stage.only()).toMatchObject({ state: 'pending', attempt: 3, charged: 2 });
    expect(stage.posts).toHaveLength(2);
    expect(stage.waiting('retries')).toHaveLength(1);
  });

  it('does not change a delivery whose attempt is in flight in the slow lane', async () => {
    await stage.slowDown();
    stage.answers.push({ ...answer(200), takesMs: 10_000 });
    stage.publishEvent();
    await stage.pass(5_000);
    await resend();
    await stage.settle();
    expect(stage.posts).toHaveLength(1);
    expect(stage.only()).toMatchObject({ state: 'delivered', attempt: 2 });
  });

  // It answered 202, and nothing came until the sweeper did: after up to 30 min.
  it.each([
    ['its message is lost', answer(500), 125_000],
    ['no sweeper has sent its message', answer(503, { 'retry-after': '7200' }), 2 * hour],
  ])('makes the attempt now if %s', async (_, first, wait) => {
    await failOnce(first);
    stage.lose('retries');
    await stage.skip(wait);
    await resend();
    await stage.pass(0);
    expect(stage.posts).toHaveLength(2);
    expect(stage.only()).toMatchObject({ state: 'delivered', attempt: 3 });
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
    expect(applyOutcome(repeated, failure())).toMatchObject({
      attempt: 4,
      charged: 1,
      wait: { nextAttemptAt: noon + hour },
    });
    expect(applyOutcome(repeated, failure())).not.toHaveProperty('expedited');
  });

  it('is followed at once by the scheduled attempt if that is due by then', () => {
    const late = { ...delivery, expedited: { at: noon, originalDueAt: noon + 1_000 } };
    for (const outcome of [failure(), internalError()]) {
      const wait = { nextAttemptAt: noon + 5_000 };
      expect(applyOutcome(late, outcome)).toMatchObject({ charged: 1, wait });
    }
  });
});

it('a resend for an earlier registration than a suspended one is refused because of the suspension', () => {
  const webhook = aWebhook({ webhookId: 'webhook-2', status: 'suspended', suspensionReason: 'operator' });
  expect(resendRefusal(aDelivery(), webhook)).toBe('webhook_suspended');
});
