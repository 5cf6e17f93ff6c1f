import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttemptOutcome, type Delivery, keptAttempts } from '../../../lambdas/delivery/delivery.ts';
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

describe('after an attempt', () => {
  it('the latest 30 attempts are kept of a delivery that was sent again and again', () => {
    const attempts = Array.from({ length: keptAttempts }, (_, at) => aRecord({ number: at + 1 }));
    const after = applyOutcome()(aDelivery({ attempt: 31, attempts }), failure({ number: 31 }));
    expect(after.attempts.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, at) => at + 2));
  });

  it.each<[string, Partial<Delivery>, AttemptOutcome, object]>([
    ['a success ends as delivered', {}, success, { state: 'delivered', settledAt: noon, attempts: [success.record] }],
    ['410 ends as held', {}, gone, { state: 'held', settledAt: noon }],
    [
      'a failure waits for the next attempt',
      {},
      failure(),
      { state: 'pending', attempt: 2, charged: 1, wait: { nextAttemptAt: noon + 5_000, overdueCount: 0 } },
    ],
    [
      'the failure after the last wait ends as failed',
      { attempt: 4, charged: 3 },
      failure(),
      { state: 'failed', attempt: 5, charged: 4, settledAt: noon },
    ],
    ['a receiver may ask for a longer wait', {}, failure({}, 60_000), { wait: { nextAttemptAt: noon + 60_000 } }],
    ['a receiver may not ask for a shorter one', {}, failure({}, 1_000), { wait: { nextAttemptAt: noon + 5_000 } }],
    [
      'one that was given up is repeated at once: neither charged nor an internal error',
      { attempt: 3, charged: 2 },
      { outcome: 'given_up', record: aRecord({ number: 3, result: 'slow', status: null }) },
      {
        ...{ state: 'pending', attempt: 4, charged: 2, internalErrors: 0 },
        ...{ wait: { nextAttemptAt: noon }, attempts: [{ number: 3, result: 'slow' }] },
      },
    ],
  ])('%s', (_, before, outcome, expected) => {
    expect(applyOutcome()(aDelivery(before), outcome)).toMatchObject(expected);
  });

  it('an internal error is not charged, and waits 1 min, doubling to 15', () => {
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

  it('an internal error ends as failed ten days after acceptance', () => {
    expect(applyOutcome(noon + 10 * day - 1)(aDelivery(), internalError()).state).toBe('pending');
    expect(applyOutcome(noon + 10 * day)(aDelivery(), internalError())).toMatchObject({
      state: 'failed',
      attempts: [{ result: 'internal' }],
    });
  });
});

describe('when the sweeper looks', () => {
  const delayOf = (waitMs: number) => {
    const { wait } = applyOutcome(noon, [waitMs])(aDelivery(), failure());
    return wait && { ...wait, look: wait.sweepAt - wait.nextAttemptAt };
  };

  it.each([0, 5_000, 15 * minute])('a wait of %i ms is sent with the outcome: only once it is 2 min overdue', wait => {
    expect(delayOf(wait)?.look).toBe(2 * minute);
  });

  it.each([15 * minute + 1, 30 * minute, 24 * 60 * minute])('a wait of %i ms: a minute before it is due', wait => {
    expect(delayOf(wait)?.look).toBe(-minute);
  });

  it('after it has sent the message of a long wait, it looks when that is 2 min overdue, and then in doubled steps', () => {
    let wait = applyOutcome(noon, [30 * minute])(aDelivery(), failure()).wait;
    const looks: number[] = [];
    for (let sweep = 0; sweep < 5 && wait; sweep++) {
      looks.push((sweeperActsAt(wait) - wait.nextAttemptAt) / minute);
      wait = waitAfterSweep(wait, sweeperActsAt(wait));
    }
    expect(looks).toEqual([-1, 2, 6, 14, 30]);
  });

  it('its claim of a long wait leaves `sweepAt` as it is, and what is overdue moves it', () => {
    const wait = { nextAttemptAt: noon, sweepAt: noon - minute, overdueCount: 0 };
    const claimed = waitAfterSweep(wait, noon - minute);
    expect(claimed).toEqual({ ...wait, claimedUntil: noon + 2 * minute });
    const overdue = waitAfterSweep(claimed, noon + 2 * minute);
    expect(overdue).toEqual({ ...wait, sweepAt: noon + 6 * minute, overdueCount: 1 });
    // One that comes late does not look again at once.
    expect(waitAfterSweep(wait, noon + 60 * minute)).toEqual({ ...wait, claimedUntil: noon + 62 * minute });
  });
});

it('what is due is not expedited for 2 min from each of its messages', () => {
  const due = dueNow(aDelivery(), noon);
  for (let [next, cameAt] = [due.wait, noon]; cameAt < noon + day; next = waitAfterSweep(next, cameAt)) {
    const isLeft = (late: number) => expedited({ ...due, wait: next }, cameAt + late) === undefined;
    expect([isLeft(0), isLeft(2 * minute - 1), isLeft(2 * minute)]).toEqual([true, true, false]);
    cameAt = next.sweepAt;
  }
});

describe('any delivery', () => {
  const outcome = fc.constantFrom<AttemptOutcome>(failure(), failure({}, 3_600_000), internalError(), success, gone);

  it('ends within its schedule, and its numbers only grow', () => {
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 60 }), outcomes => {
        const clock = frozenClock();
        const next = makeApplyOutcome({ schedule: [1, 2, 3], now: clock.now, random: () => 0.5 });
        let delivery: Delivery = aDelivery();
        for (const made of outcomes) {
          if (delivery.state !== 'pending') break;
          const after = next(delivery, { ...made, record: { ...made.record, number: delivery.attempt } });
          expect(after.attempt).toBe(delivery.attempt + 1);
          expect(after.charged).toBeGreaterThanOrEqual(delivery.charged);
          expect(after.attempts.at(-1)?.number).toBe(delivery.attempt);
          expect(after.attempts.length).toBeLessThanOrEqual(keptAttempts);
          expect(after.wait === undefined).toBe(after.state !== 'pending');
          expect(after.settledAt === undefined).toBe(after.state === 'pending');
          expect(after.charged <= 4).toBe(true);
          delivery = after;
          clock.advance(1_000);
        }
      }),
    );
  });
});
