import { describe, expect, it } from 'vitest';
import { type AttemptOutcome, type Delivery, maxStoredAttempts } from '../../../lambdas/delivery/delivery.ts';
import {
  dueNow,
  expedited,
  makeApplyOutcome,
  sweeperActsAt,
  waitAfterSweep,
} from '../../../lambdas/delivery/transitions.ts';
import { frozenClock } from '../../support/clock.ts';
import { aDelivery, aRecord, failure, internalError, noon, success } from './builders.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

const applyOutcome = (now = noon, schedule = [5_000, 5 * minute, 120 * minute]) =>
  makeApplyOutcome({ schedule, now: frozenClock(now).now, random: () => 1 });

const gone: AttemptOutcome = { outcome: 'gone', record: aRecord({ status: 410 }) };
const givenUp: AttemptOutcome = { outcome: 'given_up', record: aRecord({ number: 3, result: 'slow', status: null }) };

describe('an attempt', () => {
  it.each<[string, Partial<Delivery>, AttemptOutcome, object]>([
    ['that succeeds is delivered', {}, success, { state: 'delivered', settledAt: noon, attempts: [success.record] }],
    ['that receives a 410 ends as held', {}, gone, { state: 'held', settledAt: noon }],
    [
      'that fails is charged and followed by a wait',
      {},
      failure(),
      { state: 'pending', attempt: 2, charged: 1, wait: { nextAttemptAt: noon + 5_000, overdueCount: 0 } },
    ],
    [
      'that fails after the last wait ends as failed',
      { attempt: 4, charged: 3 },
      failure(),
      { state: 'failed', attempt: 5, charged: 4, settledAt: noon },
    ],
    ['honours its receiver’s wait', {}, failure({}, 60_000), { wait: { nextAttemptAt: noon + 60_000 } }],
    [
      'that is given up is repeated at once without a charge',
      { attempt: 3, charged: 2 },
      givenUp,
      { state: 'pending', attempt: 4, charged: 2, internalErrors: 0, wait: { nextAttemptAt: noon } },
    ],
  ])('%s', (_, before, outcome, expected) => {
    expect(applyOutcome()(aDelivery(before), outcome)).toMatchObject(expected);
  });

  it('is stored only while it is one of the latest 30', () => {
    const attempts = Array.from({ length: maxStoredAttempts }, (_, at) => aRecord({ number: at + 1 }));
    const after = applyOutcome()(aDelivery({ attempt: 31, attempts }), failure({ number: 31 }));
    expect(after.attempts.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, at) => at + 2));
  });

  it('that ends with an internal error is not charged, and is followed by a wait of 1 min, doubling up to 15 min', () => {
    let delivery = aDelivery({ charged: 1 });
    const waits: number[] = [];
    for (let fault = 0; fault < 40; fault++) {
      delivery = applyOutcome()(delivery, internalError());
      waits.push(((delivery.wait?.nextAttemptAt ?? 0) - noon) / minute);
    }
    expect(waits).toEqual([1, 2, 4, 8, ...Array(36).fill(15)]);
    expect(delivery).toMatchObject({ charged: 1, attempt: 41 });
    expect(delivery.attempts).toHaveLength(1);
    expect(applyOutcome()(delivery, failure())).toMatchObject({ charged: 2, internalErrors: 0 });
  });

  it.each([
    [10 * day - 1, 'pending'],
    [10 * day, 'failed'],
  ])('that ends with an internal error %i ms after acceptance leaves its delivery %s', (after, state) => {
    expect(applyOutcome(noon + after)(aDelivery(), internalError()).state).toBe(state);
  });
});

describe('the sweeper', () => {
  it.each([
    [0, 2 * minute],
    [15 * minute, 2 * minute],
    [15 * minute + 1, -minute],
    [24 * 60 * minute, -minute],
  ])('acts on a wait of %i ms %i ms after it is due', (waitMs, after) => {
    const { wait } = applyOutcome(noon, [waitMs])(aDelivery(), failure());
    expect(wait && wait.sweepAt - wait.nextAttemptAt).toBe(after);
  });

  it('sends the message of a long wait, and resends it when it is overdue by 2 min, at doubling intervals', () => {
    let wait = applyOutcome(noon, [30 * minute])(aDelivery(), failure()).wait;
    const acts: number[] = [];
    for (let sweep = 0; sweep < 5 && wait; sweep++) {
      acts.push((sweeperActsAt(wait) - wait.nextAttemptAt) / minute);
      wait = waitAfterSweep(wait, sweeperActsAt(wait));
    }
    expect(acts).toEqual([-1, 2, 6, 14, 30]);
  });

  it('claims a long wait until 2 min after the message is due, even if it is overdue', () => {
    const wait = { nextAttemptAt: noon, sweepAt: noon - minute, overdueCount: 0 };
    expect(waitAfterSweep(wait, noon - minute)).toEqual({ ...wait, claimedUntil: noon + 2 * minute });
    expect(waitAfterSweep(wait, noon + 60 * minute)).toEqual({ ...wait, claimedUntil: noon + 62 * minute });
  });
});

it('a resend has no effect for 2 min after each message of a due delivery', () => {
  const due = dueNow(aDelivery(), noon);
  for (let [next, arrivedAt] = [due.wait, noon]; arrivedAt < noon + day; next = waitAfterSweep(next, arrivedAt)) {
    const isRejected = (delay: number) => expedited({ ...due, wait: next }, arrivedAt + delay) === undefined;
    expect([isRejected(0), isRejected(2 * minute - 1), isRejected(2 * minute)]).toEqual([true, true, false]);
    arrivedAt = next.sweepAt;
  }
});
