import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffWait, retryAfterWait } from '../../../lambdas/delivery/backoff.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const standard = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const schedule = fc.array(fc.integer({ min: 0, max: 48 * hour }), { minLength: 1, maxLength: 12 });

describe('backoff over the retry schedule', () => {
  it('spans 60.5 to 75.6 hours', () => {
    const spanOf = (draw: number) =>
      standard.reduce((sum, _, index) => sum + (backoffWait(standard, { charged: index + 1 }, () => draw) ?? 0), 0);
    expect(spanOf(0) / hour).toBeCloseTo(60.47, 1);
    expect(spanOf(1) / hour).toBeCloseTo(75.59, 1);
  });

  it('shortens each wait by up to a fifth, and ends after the last wait', () => {
    fc.assert(
      fc.property(schedule, fc.nat(11), random, (waits, index, draw) => {
        const planned = waits[index];
        const wait = backoffWait(waits, { charged: index + 1 }, () => draw);
        if (planned === undefined || wait === undefined) return planned === wait;
        return wait >= Math.round(planned * 0.8) && wait <= planned;
      }),
    );
  });

  it('honours the wait that the receiver requests, up to 24 h', () => {
    fc.assert(
      fc.property(schedule, fc.nat(11), random, fc.nat(72 * hour), (waits, index, draw, retryAfterMs) => {
        const planned = backoffWait(waits, { charged: index + 1 }, () => draw);
        const wait = backoffWait(waits, { charged: index + 1, retryAfterMs }, () => draw);
        if (planned === undefined || wait === undefined) return planned === wait;
        return wait === Math.max(planned, Math.min(retryAfterMs, 24 * hour));
      }),
    );
  });
});

describe('Retry-After (RFC 9110 section 10.2.3)', () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 0);

  it.each<[string, number, string | undefined, number | undefined]>([
    ['seconds', 429, '120', 2 * minute],
    ['seconds, with 503', 503, '120', 2 * minute],
    ['seconds with surrounding spaces', 503, ' 120 ', 2 * minute],
    ['zero seconds', 429, '0', 0],
    ['an IMF-fixdate', 429, 'Sun, 06 Nov 1994 08:49:37 GMT', 37 * second],
    ['an RFC 850 date', 429, 'Sunday, 06-Nov-94 08:49:37 GMT', 37 * second],
    ['an asctime date', 503, 'Sun Nov  6 08:49:37 1994', 37 * second],
    ['more than 24 h', 429, '86401', 24 * hour],
    ['400 digits', 429, '9'.repeat(400), 24 * hour],
    ['a date in 3 years', 429, 'Thu, 06 Nov 1997 08:49:37 GMT', 24 * hour],
    ['a date in the past', 429, 'Sun, 06 Nov 1994 08:48:00 GMT', undefined],
    ['a negative number', 429, '-1', undefined],
    ['a fraction', 429, '1.5', undefined],
    ['an ISO date', 429, '1994-11-06T08:49:37Z', undefined],
    ['a word', 429, 'soon', undefined],
    ['a weekday and a word', 429, 'Sunday, maybe', undefined],
    ['an empty value', 429, '', undefined],
    ['absent', 429, undefined, undefined],
    ['status 500', 500, '120', undefined],
    ['status 301', 301, '120', undefined],
    ['status 410', 410, '120', undefined],
  ])('%s', (_, status, value, expected) => {
    expect(retryAfterWait(status, value, now)).toBe(expected);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), value => {
        const wait = retryAfterWait(429, value, now) ?? 0;
        return wait >= 0 && wait <= 24 * hour;
      }),
    );
  });
});
