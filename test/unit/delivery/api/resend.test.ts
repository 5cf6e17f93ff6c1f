import { beforeEach, describe, expect, it } from 'vitest';
import { resendRefusal } from '../../../../lambdas/delivery/api/resend.ts';
import { settled } from '../../../../lambdas/delivery/delivery.ts';
import { makeApplyOutcome } from '../../../../lambdas/delivery/transitions.ts';
import { schedule } from '../../../support/delivery-world/delivery-world.ts';
import { useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { aDelivery, answer, aRecord, aWebhook, failure, internalError, noon, success } from '../builders.ts';

useDeliveryWorld();
beforeEach(() => void world.publishEvent());

const hour = 3_600_000;
const resend = () => world.resend(world.only());

describe('a resend of a delivery in a final state', () => {
  it('begins a new schedule under the same id, and goes on numbering its attempts', async () => {
    const attempts = schedule.length + 1;
    world.answers.push(...Array.from({ length: 2 * attempts }, () => answer(500)));
    await world.settle();
    await world.pass(hour);
    await resend();
    expect(world.only()).toMatchObject({ state: 'pending', attempt: attempts + 1, charged: 0 });
    await world.settle();
    expect(world.only()).toMatchObject({ state: 'failed', attempt: 2 * attempts + 1 });
    expect(new Set(world.posts.map(({ id }) => id)).size).toBe(1);
    expect(world.only().attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('begins anew what our own faults kept back: it has ten days again, and their waits grow from a minute', async () => {
    const fault = { outcome: 'internal_error', cause: null, errorCode: 'EMFILE', durationMs: 1 } as const;
    world.answers.push(fault, fault, fault);
    await world.step('first');
    await world.pass(60_000);
    await world.step('retry');
    await world.register({ status: 'suspended', suspensionReason: 'gone' });
    await world.pass(2 * 60_000);
    await world.step('retry');
    expect(world.only()).toMatchObject({ state: 'held', internalErrors: 2 });
    await world.pass(10 * 24 * hour);
    await world.register();
    await resend();
    await world.step('retry');
    expect(world.only()).toMatchObject({ state: 'pending', wait: { nextAttemptAt: world.now() + 60_000 } });
  });

  it('happens once when several arrive at once', async () => {
    await world.settle();
    const delivery = world.only();
    await Promise.all([world.resend(delivery), world.resend(delivery), world.resend(delivery)]);
    await world.settle();
    expect(world.posts).toHaveLength(2);
  });

  it('is recovered by the sweeper when its message cannot be sent', async () => {
    await world.settle();
    world.between('SendMessageCommand', () => Promise.reject(new Error('the queue is down')));
    await resend();
    await world.settle();
    expect(world.posts).toHaveLength(2);
    expect([world.logged('delivery.not_sent'), world.logged('delivery.overdue')]).toEqual([1, 1]);
  });
});

describe('a resend of a waiting delivery', () => {
  // A receiver that asked for a day's wait and was mended after a minute got nothing for a day.
  it('expedites its next attempt, even before Retry-After', async () => {
    world.answers.push(answer(503, { 'retry-after': '86400' }));
    await world.step('first');
    await world.pass(60_000);
    await resend();
    expect(world.only()).toMatchObject({
      wait: { nextAttemptAt: noon + 60_000 },
      expedited: { at: noon + 60_000, originalDueAt: noon + 24 * hour },
    });
    await world.step('retry');
    expect(world.posts.map(({ at }) => at)).toEqual([noon, noon + 60_000]);
    expect(world.only()).toMatchObject({ state: 'delivered', attempt: 3 });
    await world.settle();
    expect(world.posts).toHaveLength(2);
  });

  it.each([
    ['a wait that the queue holds', answer(500), 4_500],
    ['a wait that the sweeper holds', answer(429, { 'retry-after': '7200' }), 2 * hour],
  ])('is not charged, and keeps %s when it fails', async (_, first, wait) => {
    world.answers.push(first, answer(429, { 'retry-after': '80000' }));
    await world.step('first');
    await world.pass(1_000);
    await resend();
    while (await world.step('retry')) if (world.posts.length === 2) break;
    const delivery = world.only();
    expect(delivery).toMatchObject({ state: 'pending', attempt: 3, charged: 1 });
    expect(delivery.wait?.nextAttemptAt).toBe(noon + wait);
    expect(delivery).not.toHaveProperty('expedited');
    await world.settle();
    expect(world.posts).toHaveLength(3);
    // The queue delays by whole seconds, and never less than was asked for.
    expect((world.posts[2]?.at ?? 0) - noon).toBeGreaterThanOrEqual(wait);
    expect((world.posts[2]?.at ?? 0) - noon).toBeLessThan(wait + 1_000);
    expect(world.only()).toMatchObject({ state: 'delivered', attempt: 4 });
  });

  it('keeps the schedule: a delivery that fails for good gets additional attempts and loses none', async () => {
    world.answers.push(...Array.from({ length: 20 }, () => answer(500)));
    await world.step('first');
    for (let extra = 0; extra < 3; extra++) {
      await world.pass(1_000);
      await resend();
      while (world.only().attempt < extra + 3 && (await world.step('retry')));
    }
    await world.settle();
    expect(world.only()).toMatchObject({ state: 'failed', charged: schedule.length + 1 });
    expect(world.posts).toHaveLength(schedule.length + 1 + 3);
  });

  it('makes the earlier message of the same attempt stale: it is dropped', async () => {
    world.answers.push(answer(500));
    await world.step('first');
    expect(world.waiting('retries')).toHaveLength(1);
    await world.pass(2_000);
    await resend();
    expect(world.waiting('retries')).toHaveLength(2);
    // The earlier one comes first, late though it is, and does not make the attempt.
    await world.pass(10_000);
    await world.step('retry');
    expect(world.posts).toHaveLength(1);
    await world.step('retry');
    expect(world.posts).toHaveLength(2);
    expect(world.logged('delivery.stale')).toBe(1);
  });

  it('makes the earlier message stale also while the expedited attempt is in flight', async () => {
    world.answers.push(answer(500));
    await world.step('first');
    await world.pass(2_000);
    await resend();
    world.during.push(async () => {
      await world.pass(10_000);
      await world.step('retry');
    });
    await world.step('retry');
    expect(world.posts).toHaveLength(2);
    expect(world.only()).toMatchObject({ state: 'delivered', attempt: 3 });
  });

  const loseAndPass = async (milliseconds: number) => {
    world.lose('retries');
    await world.pass(milliseconds);
  };
  const sweepLate = () => loseAndPass(125_000).then(() => world.sweep());

  it.each([
    ['its own message', () => world.pass(5_000)],
    ['the sweeper’s message', sweepLate],
  ])('changes nothing while the attempt of %s is due or in flight: its outcome counts', async (_, fallDue) => {
    world.answers.push(answer(500), answer(500));
    await world.step('first');
    await fallDue();
    await resend();
    world.during.push(resend);
    await world.step('retry');
    expect(world.only()).toMatchObject({ state: 'pending', attempt: 3, charged: 2 });
    expect(world.posts).toHaveLength(2);
    expect(world.waiting('retries')).toHaveLength(1);
  });

  it('changes nothing while an attempt of the slow lane is in flight', async () => {
    await world.slowDown();
    await world.step('first');
    await world.pass(100_000);
    world.during.push(async () => {
      await resend();
      while ((await world.step('retry')) || (await world.step('slow')));
    });
    await world.step('slow');
    await world.settle();
    expect(world.posts).toHaveLength(1);
    expect(world.only()).toMatchObject({ state: 'delivered', attempt: 2 });
  });

  // It answered 202, and nothing came until the sweeper did: after up to 30 min.
  it.each([
    ['its message is lost', answer(500), () => loseAndPass(125_000)],
    ['the sweeper’s message is lost, too', answer(500), () => sweepLate().then(() => loseAndPass(120_000))],
    ['no sweeper has sent its message', answer(503, { 'retry-after': '7200' }), () => loseAndPass(2 * hour)],
  ])('makes the attempt now where %s', async (_, first, fallDue) => {
    world.answers.push(first);
    await world.step('first');
    await fallDue();
    await resend();
    await world.step('retry');
    expect(world.posts).toHaveLength(2);
    expect(world.only()).toMatchObject({ state: 'delivered', attempt: 3 });
  });

  it('is recovered by the sweeper when its message is lost, and is still not charged', async () => {
    world.answers.push(answer(503, { 'retry-after': '36000' }), answer(500));
    await world.step('first');
    await world.pass(1_000);
    await resend();
    world.lose('retries');
    await world.pass(121_000);
    await world.sweep();
    await world.step('retry');
    expect(world.posts).toHaveLength(2);
    expect(world.only()).toMatchObject({ charged: 1, wait: { nextAttemptAt: noon + 10 * hour } });
  });
});

describe('an expedited attempt', () => {
  const expedited = { at: noon, originalDueAt: noon + hour };
  const wait = { nextAttemptAt: noon, sweepAt: noon + 120_000, overdueCount: 0 };
  const delivery = aDelivery({ attempt: 2, charged: 1, wait, expedited });
  const applyOutcome = makeApplyOutcome({ schedule, now: () => noon + 5_000, random: () => 1 });

  it('is repeated at once when it was given up, and is still not charged', () => {
    const repeated = applyOutcome(delivery, { outcome: 'given_up', record: aRecord({ result: 'slow' }) });
    expect(repeated).toMatchObject({ state: 'pending', attempt: 3, charged: 1, expedited });
    expect(applyOutcome(repeated, failure())).toMatchObject({
      attempt: 4,
      charged: 1,
      wait: { nextAttemptAt: noon + hour },
    });
    expect(applyOutcome(repeated, failure())).not.toHaveProperty('expedited');
  });

  it('keeps the schedule where it fails through an internal error', () => {
    const after = applyOutcome(delivery, internalError());
    expect(after).toMatchObject({ charged: 1, internalErrors: 1, wait: { nextAttemptAt: noon + hour } });
  });

  it('is followed at once by the scheduled attempt, if that fell due meanwhile', () => {
    const late = { ...delivery, expedited: { at: noon, originalDueAt: noon + 1_000 } };
    for (const outcome of [failure(), internalError()]) {
      const wait = { nextAttemptAt: noon + 5_000 };
      expect(applyOutcome(late, outcome)).toMatchObject({ charged: 1, wait });
    }
  });

  it('leaves nothing behind when the delivery ends', () => {
    expect(applyOutcome(delivery, success)).not.toHaveProperty('expedited');
    expect(settled(delivery, 'held', noon)).not.toHaveProperty('expedited');
  });
});

it('what was for an earlier registration than one that an operator suspended is refused as of a suspended webhook', () => {
  const webhook = aWebhook({ webhookId: 'webhook-2', status: 'suspended', suspensionReason: 'operator' });
  expect(resendRefusal(aDelivery(), webhook)).toBe('webhook_suspended');
});
