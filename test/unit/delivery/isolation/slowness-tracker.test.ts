import { describe, expect, it } from 'vitest';
import { makeRecentCounts } from '../../../../lambdas/delivery/isolation/recent-counts.ts';
import {
  isSlow,
  type Slowness,
  unknownSlowness,
  withSlowDns,
} from '../../../../lambdas/delivery/isolation/slowness.ts';
import { type SlownessStore, slownessOf } from '../../../../lambdas/delivery/isolation/slowness-store.ts';
import { makeSlownessTracker } from '../../../../lambdas/delivery/isolation/slowness-tracker.ts';
import { frozenClock } from '../../../support/clock.ts';
import { fakeTelemetry, noon } from '../builders.ts';

const owner = { accountId: 'conta-1', eventName: 'demanda.criada' } as const;

/** The notes of one process over a store whose writes the test holds up. */
const notesOver = (begun: Slowness = unknownSlowness) => {
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
      return { ...slownessOf(owner, undefined), ...stored };
    },
  };
  const notes = makeSlownessTracker({ ...telemetry, store, quickCounts: makeRecentCounts(), now: clock.now });
  return {
    notes,
    clock,
    stored: () => stored,
    writes: () => writes,
    /** Holds writes up until the function it gives is called. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    ...telemetry,
  };
};

describe('what a process notes', () => {
  it('writes nothing for quick attempts, and adds them with the next slow one', async () => {
    const { notes, stored, writes } = notesOver();
    for (let at = 0; at < 30; at++) notes.quick(owner);
    notes.quick({ ...owner, accountId: 'another' });
    expect(writes()).toBe(0);
    await notes.slow(owner);
    expect(stored().tallies).toEqual([{ at: noon, slow: 1, quick: 30 }]);
    await notes.slow(owner);
    expect(stored().tallies).toEqual([{ at: noon, slow: 2, quick: 30 }]);
    expect(isSlow(stored())).toBe(false);
  });

  it('forgets quick attempts of more than a minute ago', async () => {
    const { notes, stored, clock } = notesOver();
    for (let at = 0; at < 30; at++) notes.quick(owner);
    clock.advance(60_000);
    await notes.slow(owner);
    expect(stored().tallies).toMatchObject([{ slow: 1, quick: 0 }]);
  });

  it('writes slow attempts that come while one is written together, and each caller waits for its own', async () => {
    const { notes, stored, writes, hold } = notesOver();
    const release = hold();
    const all = [notes.slow(owner), notes.slow(owner), notes.slow(owner), notes.slow(owner)];
    release();
    await Promise.all(all);
    expect(stored().tallies).toMatchObject([{ slow: 4 }]);
    expect(writes()).toBe(2);
  });

  it('says once that a webhook became slow, and that it is quick again', async () => {
    const { notes, counts, lines, clock } = notesOver();
    for (let at = 0; at < 5; at++) await notes.slow(owner);
    expect(counts).toEqual({ WebhookSlow: 1 });
    clock.advance(60_000);
    await notes.quickSuccess(owner);
    expect(lines.map(line => JSON.parse(line)[0])).toEqual(['webhook.slow', 'webhook.quick_again']);
  });

  it('writes again only after 5 s what is known to be slow, and then all of it', async () => {
    const { notes, stored, writes, clock } = notesOver(withSlowDns(unknownSlowness, noon));
    await notes.slow(owner);
    const before = writes();
    for (let at = 0; at < 20; at++) await notes.slow(owner);
    expect(writes()).toBe(before);
    clock.advance(5_000);
    await notes.slow(owner);
    expect(writes()).toBe(before + 1);
    expect(stored().tallies.reduce((sum, { slow }) => sum + slow, 0)).toBe(22);
  });

  it('does not count what it kept back once that is more than a minute ago', async () => {
    const { notes, stored, clock } = notesOver(withSlowDns(unknownSlowness, noon));
    for (let at = 0; at < 31; at++) await notes.slow(owner); // thirty of them are kept back
    clock.advance(60_000);
    await notes.quickSuccess(owner);
    expect(isSlow(stored())).toBe(false);
    await notes.slow(owner);
    expect(isSlow(stored())).toBe(false);
  });

  it('ends no slowness before its hold is over, whatever the caller knew', async () => {
    const { notes, stored, clock } = notesOver(withSlowDns(unknownSlowness, noon));
    clock.advance(59_999);
    await notes.quickSuccess(owner);
    expect(isSlow(stored())).toBe(true);
  });

  // A burst at a name that resolves in three seconds wrote the same item thousands of times.
  it('writes once for all attempts that wait for one name, and not again while it is known to be slow', async () => {
    const { notes, stored, writes, clock } = notesOver();
    await Promise.all(Array.from({ length: 50 }, () => notes.slowName(owner)));
    expect(isSlow(stored())).toBe(true);
    expect(writes()).toBe(1);
    clock.advance(4_999);
    await notes.slowName(owner);
    expect(writes()).toBe(1);
    clock.advance(1);
    await notes.slowName(owner);
    expect(writes()).toBe(2);
  });

  it('never throws, and never writes for ever: what cannot be stored is logged', async () => {
    const telemetry = fakeTelemetry();
    const store = { change: () => Promise.reject(new Error('the store is down: canary-7f3a')) };
    const { now } = frozenClock();
    const notes = makeSlownessTracker({ ...telemetry, store, quickCounts: makeRecentCounts(), now });
    await Promise.all([notes.slow(owner), notes.slow(owner), notes.slowName(owner), notes.duration(owner, 1)]);
    await notes.quickSuccess(owner);
    expect(telemetry.lines.join()).toContain('webhook.slowness_not_stored');
    expect(telemetry.lines.join()).not.toContain('canary-7f3a');
  });
});
