import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeAwsClock } from '../../../../ops/stage/aws-clock.ts';

const noon = Date.UTC(2026, 10, 20, 12);

/** A local clock that is ahead, and AWS, whose responses take time and have whole seconds. */
function world(ahead: number) {
  let truth = noon + 400;
  const clock = makeAwsClock(() => truth + ahead);
  return {
    clock,
    truth: () => truth,
    ask: (way: number, back: number) => {
      const sentAt = truth + ahead;
      truth += way;
      const date = new Date(truth).toUTCString();
      truth += back;
      clock.learn(date, sentAt);
    },
  };
}

it('returns AWS’s time, accurate to one second plus the response time, however wrong the local clock is', () => {
  const time = fc.integer({ min: 0, max: 3_000 });
  const ahead = fc.integer({ min: -10 * 86_400_000, max: 10 * 86_400_000 });
  fc.assert(
    fc.property(ahead, fc.array(fc.tuple(time, time), { minLength: 1, maxLength: 5 }), (wrong, answers) => {
      const { clock, truth, ask } = world(wrong);
      for (const [way, back] of answers) ask(way, back);
      const slowest = Math.max(...answers.map(([way, back]) => way + back));
      expect(Math.abs(clock.now() - truth())).toBeLessThanOrEqual(1_000 + slowest);
    }),
  );
});

it('does not change a correct local clock', () => {
  const { clock, truth, ask } = world(0);
  ask(20, 30);
  expect(clock.now()).toBe(truth());
  expect(clock.aheadBy()).toBe(0);
});

it('returns the local time before the first response, and ignores a response without a date', () => {
  const { clock, truth } = world(5_000);
  clock.learn(undefined, noon);
  clock.learn('soon', noon);
  expect(clock.now()).toBe(truth() + 5_000);
});
