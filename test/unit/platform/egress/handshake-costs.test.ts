import { describe, expect, it } from 'vitest';
import { makeHandshakeCosts } from '../../../../lambdas/platform/egress/handshake-costs.ts';
import { frozenClock } from '../../../support/clock.ts';

/** Makes handshakes of which each says what it costs. Gives whether one was refused. */
const start = () => {
  const clock = frozenClock();
  let processorTime = 0;
  const costs = makeHandshakeCosts(clock.now, () => processorTime);
  const spend = (milliseconds: number) => {
    processorTime += milliseconds;
  };
  return {
    clock,
    costs,
    spend,
    isRefused: (host: string) => costs.begin(host).isTooMuch(),
    shakeHands: (host: string, milliseconds: number, isSuccessful = false) => {
      const handshake = costs.begin(host);
      if (handshake.isTooMuch()) return false;
      handshake.of(() => spend(milliseconds / 2));
      handshake.of(() => {
        spend(milliseconds / 2);
        if (isSuccessful) handshake.succeeded();
      });
      return true;
    },
  };
};

describe('a host whose handshakes cost processor time', () => {
  it.each([
    ['10 ms each', 10, 1_000],
    ['28 ms each', 28, 3],
    ['61 ms each', 61, 1],
    ['half a second each', 500, 1],
  ])('of %s is refused after %i %i', (_case, milliseconds, expected) => {
    const { shakeHands } = start();
    let made = 0;
    while (made < 1_000 && shakeHands('costly.example.com', milliseconds)) made += 1;
    expect(made).toBe(expected);
  });

  it('is refused alone', () => {
    const { shakeHands, isRefused } = start();
    shakeHands('costly.example.com', 500);
    expect(isRefused('costly.example.com')).toBe(true);
    expect(isRefused('other.example.com')).toBe(false);
  });

  it('is refused in the middle of other handshakes, too', () => {
    const { costs, spend } = start();
    const [first, second] = [costs.begin('costly.example.com'), costs.begin('costly.example.com')];
    expect(second.isTooMuch()).toBe(false);
    first.of(() => spend(500));
    expect(second.isTooMuch()).toBe(true);
  });

  it('is refused for ten minutes', () => {
    const { clock, shakeHands, isRefused } = start();
    shakeHands('costly.example.com', 500);
    clock.advance(10 * 60_000 - 1);
    expect(isRefused('costly.example.com')).toBe(true);
    clock.advance(1);
    expect(isRefused('costly.example.com')).toBe(false);
  });

  it('is not refused for what our own garbage collector did now and then', () => {
    const { shakeHands } = start();
    for (let handshake = 0; handshake < 10_000; handshake++)
      expect(shakeHands('busy.example.com', handshake % 20 === 0 ? 40 : 2, true)).toBe(true);
  });

  it('is refused though it has cheap handshakes that fail, and every third one is costly', () => {
    const { shakeHands } = start();
    const made = Array.from({ length: 100 }, (_, at) => shakeHands('costly.example.com', at % 3 === 0 ? 60 : 1));
    expect(made.filter(Boolean).length).toBeLessThan(10);
  });

  it('is remembered with a thousand others at most', () => {
    const { shakeHands, isRefused } = start();
    for (let host = 0; host <= 1_000; host++) shakeHands(`h${host}.example.com`, 500);
    expect(isRefused('h0.example.com')).toBe(false);
    expect(isRefused('h1.example.com')).toBe(true);
    expect(isRefused('h1000.example.com')).toBe(true);
  });
});
