import { describe, expect, it } from 'vitest';
import { makeRandom } from '../../../tools/support/random.ts';
import { simulateLargeReceiver, simulateOutage } from '../../simulate/healthy-receivers.ts';

describe('a large healthy receiver', () => {
  it('is never slow for one slow answer in a thousand', () => {
    expect(simulateLargeReceiver({ rate: 100, slowShare: 0.001, processes: 10, hours: 2 }, makeRandom(1))).toBe(0);
  });

  it('has nothing waiting ten minutes after an outage of one', () => {
    const { quickAfter, emptyAfter, waited } = simulateOutage(100, makeRandom(1));
    expect(waited).toBeGreaterThan(5_000);
    expect(quickAfter).toBeGreaterThanOrEqual(60_000);
    expect(emptyAfter).toBeLessThan(600_000);
  });
});
