import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unknownSlowness } from '../../../../lambdas/delivery/isolation/slowness.ts';
import { makeStartAttemptWatch } from '../../../../lambdas/delivery/worker/attempt-watch.ts';
import type { PostOutcome, PostRequest } from '../../../../lambdas/platform/egress/guarded-post.ts';
import { makeEventLoopLag } from '../../../../lambdas/platform/event-loop-lag.ts';
import { afterEvents, systemTime } from '../../../../lambdas/platform/timer.ts';
import { aDelivery, answer, attemptWith, aWebhook, silentTracker } from '../builders.ts';

/** Milliseconds since the process started. Its timers are Vitest's. */
let moment = 0;
beforeEach(() => {
  moment = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => void vi.useRealTimers());

const now = () => moment;

/** The process stands still: what was due meanwhile fires afterwards. */
const standStill = async (milliseconds: number) => {
  moment += milliseconds;
  vi.advanceTimersByTime(milliseconds);
  await settle();
};

/** Waits until what was due is done. */
const settle = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
};

/** Time goes by until a moment, and timers fire on time. */
const passUntil = async (until: number) => {
  while (moment < until) await standStill(1);
};

/** A receiver that answers after this time, or never: as the guarded POST sees it, whose deadline knows no lateness. */
const postTo =
  (answersAfter: number) =>
  ({ deadlineMs, elapsed, signal, onConnecting, onAnswered }: PostRequest): Promise<PostOutcome> => {
    const { promise, resolve } = Promise.withResolvers<PostOutcome>();
    const [begun, begunElapsed] = [now(), elapsed()];
    const times = () => ({ durationMs: now() - begun, sinceConnectingMs: elapsed() - begunElapsed });
    const end = (outcome: Exclude<PostOutcome, { outcome: 'response' }>['outcome']) =>
      resolve({ outcome, detail: 'over', ...times() } as PostOutcome);
    onConnecting?.();
    afterEvents(deadlineMs, () => end('timeout'));
    signal?.addEventListener('abort', () => end('given_up'));
    setTimeout(() => {
      onAnswered?.();
      resolve({ ...answer(200), ...times() });
    }, answersAfter);
    return promise;
  };

/** Makes an attempt while messages wait. Returns what was recorded of it and how it ended, each with its moment. */
const attempt = async (answersAfter: number, lane: 'first' | 'slow' = 'first') => {
  const eventLoopLag = makeEventLoopLag({ ...systemTime, elapsed: now });
  const did: string[] = [];
  const note = (what: string) => void did.push(`${moment} ${what}`);
  const watch = makeStartAttemptWatch({
    tracker: {
      ...silentTracker,
      recordQuick: () => note('quick'),
      recordSlow: async () => note('marked'),
    },
    eventLoopLag,
    dnsTimeouts: { begin: () => () => undefined, recordTimeout: () => false },
    hasMessages: async () => true,
    ...systemTime,
    now,
    lane,
    giveUp: 'waiting',
    attemptTimeoutMs: 15_000,
  })(aWebhook(), unknownSlowness);
  const make = attemptWith({ post: postTo(answersAfter), eventLoopLag, now });
  void make(aWebhook(), aDelivery(), watch).then(async outcome => {
    await watch.end(outcome);
    note(outcome.record.result);
  });
  await settle();
  return did;
};

const never = 60_000;

/** A standstill makes the process late by what it lasts beyond the next tick of its timer, here 100 ms. */
const tick = 100;

describe('an attempt that hangs', () => {
  it.each([
    ['by 200 ms just before', 1_900, 200, 2_200],
    ['by 5 s', 1_000, 5_000, 7_000],
  ])('in a process that was late %s is marked and given up then', async (_case, from, late, at) => {
    const did = await attempt(never);
    await passUntil(from);
    await standStill(tick + late);
    await passUntil(10_000);
    expect(did).toEqual([`${at} marked`, `${at} slow`]);
  });

  it.each([
    ['late by 999 ms', 999, 'timeout'],
    ['late by 10 s', 10_000, 'internal'],
  ])('ends after 15 s in the slow lane, in a process that was %s, too', async (_case, late, result) => {
    const did = await attempt(never, 'slow');
    await passUntil(1_000);
    await standStill(tick + late);
    await passUntil(15_000);
    expect(did.at(-1)).toBe(`15000 ${result}`);
  });
});

describe('an attempt that is answered', () => {
  it.each([200, 1_000, 5_000])(
    'after 1.5 s is neither marked nor given up where the process is late by %i ms',
    async late => {
      const did = await attempt(1_500);
      await passUntil(1_000);
      await standStill(tick + late);
      await passUntil(8_000);
      expect(did.map(what => what.split(' ')[1])).toEqual(['quick', 'delivered']);
    },
  );

  it('while the process stands still is not given up when that wakes', async () => {
    const did = await attempt(1_950);
    await passUntil(1_900);
    await standStill(1_100);
    expect(did.map(what => what.split(' ')[1])).toEqual(['quick', 'delivered']);
  });

  it('after 2.1 s is marked where the process is late by 50 ms', async () => {
    const did = await attempt(2_100, 'slow');
    await passUntil(1_000);
    await standStill(tick + 50);
    await passUntil(3_000);
    expect(did).toEqual(['2050 marked', '2100 delivered']);
  });

  it('in half a second is nobody’s time-out where the process stood still for its whole deadline', async () => {
    const did = await attempt(never);
    await passUntil(500);
    await standStill(20_000);
    expect(did).toEqual(['20500 internal']);
  });
});
