import { expect, test } from 'vitest';
import { makeRandom } from '../../../tools/support/random.ts';
import { simulateLargeReceiver } from '../../world/day/large-receiver.ts';

test('A large receiver is never slow for one slow answer in a thousand, but soon for one in five.', () => {
  const receiver = { rate: 100, processes: 10, hours: 2 };
  expect(simulateLargeReceiver({ ...receiver, slowShare: 0.001 }, makeRandom(1))).toBe(0);
  expect(simulateLargeReceiver({ ...receiver, slowShare: 0.2, hours: 1 }, makeRandom(1))).toBeGreaterThan(10);
});
