import { beforeEach, describe, expect, it } from 'vitest';
import { resendError } from '../../../../lambdas/delivery/api/resend.ts';
import { makeApplyOutcome } from '../../../../lambdas/delivery/transitions.ts';
import { makeStage, type Stage, schedule } from '../../../support/stage.ts';
import { aDelivery, aRecord, aResponse, aWebhook, failure, internalError, noon } from '../builders.ts';

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

const hour = 3_600_000;
const resend = () => stage.request('POST', `/v1/webhooks/demanda.criada/entregas/${stage.only().id}/reenvio`);
/** Publishes the event and makes its first attempt end with this outcome. */
const failOnce = async (first: (typeof stage.answers)[number] = aResponse(500)) => {
  stage.answers.push(first);
  stage.publishEvent();
  await stage.pass(0);
};

describe('a resend of a delivery in a final state', () => {
  it('starts a new schedule under the same id and continues the attempt numbers', async () => {
    const attempts = schedule.length + 1;
    stage.answers.push(...Array.from({ length: 2 * attempts }, () => aResponse(500)));
    stage.publishEvent();
    await stage.settle();
    await stage.pass(hour);
    expect(await resend()).toMatchObject({ status: 202, json: { id: stage.only().id } });
    await stage.settle();
    expect(stage.only()).toMatchObject({ state: 'failed', attempt: 2 * attempts + 1, charged: attempts });
    expect(new Set(stage.posts.map(({ id }) => id)).size).toBe(1);
    expect(stage.only().attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('restarts the 10-day limit and the 1-minute backoff of internal errors', async () => {
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
    ['its receiver requested a longer wait', aResponse(503, { 'retry-after': '86400' }), 60_000, false],
    ['its message is lost', aResponse(500), 125_000, true],
    ['the sweeper has not sent its message', aResponse(503, { 'retry-after': '7200' }), 2 * hour, true],
  ])('makes the next attempt immediately if %s', async (_, first, wait, isLost) => {
    await failOnce(first);
    if (isLost) stage.lose('retries');
    await stage.skip(wait);
    await resend();
    await stage.pass(0);
    expect(stage.posts.map(({ at }) => at)).toEqual([noon, noon + wait]);
    expect(stage.only()).toMatchObject({ state: 'delivered', attempt: 3 });
  });

  it.each([
    ['a wait in the queue', aResponse(500), 4_500],
    ['a wait for the sweeper', aResponse(429, { 'retry-after': '7200' }), 2 * hour],
  ])('is not charged, and preserves %s if it fails', async (_, first, wait) => {
    await failOnce(first);
    await stage.pass(1_000);
    stage.answers.push(aResponse(429, { 'retry-after': '80000' }));
    await resend();
    await stage.settle();
    expect(stage.only()).toMatchObject({ state: 'delivered', attempt: 4, charged: 1 });
    const third = stage.posts[2]?.at ?? 0; // the queue rounds delays up to whole seconds
    expect(third).toBeGreaterThanOrEqual(noon + wait);
    expect(third).toBeLessThan(noon + wait + 1_000);
  });

  it('makes the earlier message of the attempt stale while the attempt is in flight', async () => {
    stage.answers.push(aResponse(500), { ...aResponse(200), takesMs: 10_000 });
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

  it('is repeated at once without a charge if it was given up', () => {
    const repeated = applyOutcome(delivery, { outcome: 'given_up', record: aRecord({ result: 'slow' }) });
    expect(repeated).toMatchObject({ state: 'pending', attempt: 3, charged: 1, expedited });
    const failed = applyOutcome(repeated, failure());
    expect(failed).toMatchObject({ attempt: 4, charged: 1, wait: { nextAttemptAt: noon + hour } });
    expect(failed).not.toHaveProperty('expedited');
  });

  it('is followed at once by the scheduled attempt if the scheduled time has passed', () => {
    const overdue = { ...delivery, expedited: { at: noon, originalDueAt: noon + 1_000 } };
    for (const outcome of [failure(), internalError()]) {
      const wait = { nextAttemptAt: noon + 5_000 };
      expect(applyOutcome(overdue, outcome)).toMatchObject({ charged: 1, wait });
    }
  });
});

it('rejects a resend for an earlier registration if the current registration is suspended', () => {
  const webhook = aWebhook({ webhookId: 'webhook-2', status: 'suspended', suspensionReason: 'operator' });
  expect(resendError(aDelivery(), webhook)).toBe('webhook_suspended');
});
