import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeAwsClock } from '../../../../ops/stage/aws-clock.ts';

const noon = Date.UTC(2026, 10, 20, 12);

/** Simulates a local clock that is ahead of AWS. Responses take time and have whole seconds. */
function simulateClock(ahead: number) {
  let truth = noon + 400;
  const clock = makeAwsClock(() => truth + ahead);
  return {
    clock,
    truth: () => truth,
    request: (requestMs: number, responseMs: number) => {
      const sentAt = truth + ahead;
      truth += requestMs;
      const date = new Date(truth).toUTCString();
      truth += responseMs;
      clock.adjust(date, sentAt);
    },
  };
}

it('returns AWS’s time, accurate to 1 s plus the response time, for any error of the local clock', () => {
  const time = fc.integer({ min: 0, max: 3_000 });
  const ahead = fc.integer({ min: -10 * 86_400_000, max: 10 * 86_400_000 });
  fc.assert(
    fc.property(ahead, fc.array(fc.tuple(time, time), { minLength: 1, maxLength: 5 }), (error, calls) => {
      const { clock, truth, request } = simulateClock(error);
      for (const [requestMs, responseMs] of calls) request(requestMs, responseMs);
      const slowest = Math.max(...calls.map(([requestMs, responseMs]) => requestMs + responseMs));
      expect(Math.abs(clock.now() - truth())).toBeLessThanOrEqual(1_000 + slowest);
    }),
  );
});

it('does not change a correct local clock', () => {
  const { clock, truth, request } = simulateClock(0);
  request(20, 30);
  expect(clock.now()).toBe(truth());
  expect(clock.aheadBy()).toBe(0);
});

it('returns the local time before the first response, and ignores a response without a date', () => {
  const { clock, truth } = simulateClock(5_000);
  clock.adjust(undefined, noon);
  clock.adjust('soon', noon);
  expect(clock.now()).toBe(truth() + 5_000);
});
