import { expect, it } from 'vitest';
import { makeThrottle } from '../../../../local/http-api/gateway.ts';

it('a burst passes, then as many as the rate allows', () => {
  let now = 0;
  const throttle = makeThrottle({ rate: 2, burst: 3 }, () => now);
  const pass = (count: number) => Array.from({ length: count }, throttle);
  expect(pass(4)).toEqual([true, true, true, false]);
  now = 499;
  expect(throttle()).toBe(false);
  now = 500;
  expect(pass(2)).toEqual([true, false]);
  now = 60_000;
  expect(pass(4)).toEqual([true, true, true, false]);
});
