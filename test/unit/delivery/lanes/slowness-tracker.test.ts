import { describe, expect, it } from 'vitest';
import { makeRecentCounts } from '../../../../lambdas/delivery/lanes/recent-counts.ts';
import {
  isSlow,
  type Slowness,
  unknownSlowness,
  withSlowAttempts,
} from '../../../../lambdas/delivery/lanes/slowness.ts';
import { type SlownessStore, slownessOf } from '../../../../lambdas/delivery/lanes/slowness-store.ts';
import { makeSlownessTracker } from '../../../../lambdas/delivery/lanes/slowness-tracker.ts';
import { frozenClock } from '../../../support/clock.ts';
import { fakeTelemetry, noon } from '../builders.ts';

const slow = withSlowAttempts(unknownSlowness, { slow: 2, quick: 0 }, noon);
const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;

/** The tracker of one process over a store whose writes the test holds up. */
const trackerOver = (begun: Slowness = unknownSlowness) => {
  const clock = frozenClock();
  const telemetry = fakeTelemetry();
  let stored: Slowness = begun;
  let writes = 0;
  let gate: Promise<void> = Promise.resolve();
  const store: Pick<SlownessStore, 'change'> = {
    change: async (_, by) => {
      await gate;
      const changed = by(stored);
      if (changed) writes++;
      stored = changed ?? stored;
      return { ...slownessOf(undefined), ...stored };
    },
  };
  const tracker = makeSlownessTracker({ ...telemetry, store, quickCounts: makeRecentCounts(), now: clock.now });
  return {
    tracker,
    clock,
    stored: () => stored,
    writes: () => writes,
    /** Holds writes up until the function it returns is called. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    ...telemetry,
  };
};

describe('what a process records', () => {
  it('writes nothing for quick attempts, and adds them with the next slow one', async () => {
    const { tracker, stored, writes } = trackerOver();
    for (let at = 0; at < 30; at++) tracker.recordQuick(owner);
    tracker.recordQuick({ ...owner, accountId: 'another' });
    expect(writes()).toBe(0);
    await tracker.recordSlow(owner);
    expect(stored().tallies).toEqual([{ at: noon, slow: 1, quick: 30 }]);
    await tracker.recordSlow(owner);
    expect(stored().tallies).toEqual([{ at: noon, slow: 2, quick: 30 }]);
    expect(isSlow(stored())).toBe(false);
  });

  it('writes slow attempts that come while one is written together, and each caller waits for its own', async () => {
    const { tracker, stored, writes, hold } = trackerOver();
    const release = hold();
    const all = [
      tracker.recordSlow(owner),
      tracker.recordSlow(owner),
      tracker.recordSlow(owner),
      tracker.recordSlow(owner),
    ];
    release();
    await Promise.all(all);
    expect(stored().tallies).toMatchObject([{ slow: 4 }]);
    expect(writes()).toBe(2);
  });

  it('says once that a webhook became slow, and that it is quick again', async () => {
    const { tracker, lines, clock } = trackerOver();
    for (let at = 0; at < 5; at++) await tracker.recordSlow(owner);
    clock.advance(60_000);
    await tracker.recordQuickAnswer(owner);
    expect(lines.map(line => JSON.parse(line)[0])).toEqual(['webhook.slow', 'webhook.quick_again']);
  });

  it('writes again only after 5 s what is known to be slow, and then all of it', async () => {
    const { tracker, stored, writes, clock } = trackerOver(slow);
    await tracker.recordSlow(owner);
    const before = writes();
    for (let at = 0; at < 20; at++) await tracker.recordSlow(owner);
    expect(writes()).toBe(before);
    clock.advance(5_000);
    await tracker.recordSlow(owner);
    expect(writes()).toBe(before + 1);
    expect(stored().tallies.reduce((sum, { slow }) => sum + slow, 0)).toBe(24);
  });

  it('does not count what it kept back once that is more than a minute ago', async () => {
    const { tracker, stored, clock } = trackerOver(slow);
    for (let at = 0; at < 31; at++) await tracker.recordSlow(owner); // thirty of them are kept back
    clock.advance(60_000);
    await tracker.recordQuickAnswer(owner);
    expect(isSlow(stored())).toBe(false);
    await tracker.recordSlow(owner);
    expect(isSlow(stored())).toBe(false);
  });

  it('ends no slowness before its hold is over, whatever the caller knew', async () => {
    const { tracker, stored, clock } = trackerOver(slow);
    clock.advance(59_999);
    await tracker.recordQuickAnswer(owner);
    expect(isSlow(stored())).toBe(true);
  });

  it('never throws, and never writes for ever: what cannot be stored is logged', async () => {
    const telemetry = fakeTelemetry();
    const store = { change: () => Promise.reject(new Error('the store is down: canary-7f3a')) };
    const { now } = frozenClock();
    const tracker = makeSlownessTracker({ ...telemetry, store, quickCounts: makeRecentCounts(), now });
    await Promise.all([tracker.recordSlow(owner), tracker.recordSlow(owner)]);
    await tracker.recordQuickAnswer(owner);
    expect(telemetry.lines.join()).toContain('webhook.slowness_not_stored');
    expect(telemetry.lines.join()).not.toContain('canary-7f3a');
  });
});
