import { describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../../../../lambdas/delivery/delivery.ts';
import {
  type Slowness,
  unknownSlowness,
  withDuration,
  withSlowDns,
} from '../../../../lambdas/delivery/isolation/slowness.ts';
import {
  type AttemptWatchDependencies,
  makeStartAttemptWatch,
} from '../../../../lambdas/delivery/worker/attempt-watch.ts';
import { frozenClock } from '../../../support/clock.ts';
import { aDelivery, answer, aRecord, attemptWith, aWebhook, noon, silentTracker } from '../builders.ts';
import { sealing } from '../test-keyring.ts';

interface Circumstances extends Partial<AttemptWatchDependencies> {
  readonly slowness?: Slowness;
  /** The answers to whether messages wait, one per question, in order; `false` after the last. */
  readonly waiting?: readonly boolean[];
}

const slow = withSlowDns(unknownSlowness, noon - 60_000);

/** The watch of one attempt, a clock that fires its timers, and what was done, each with its time since noon. */
const timing = (circumstances: Circumstances = {}) => {
  const { slowness = unknownSlowness, waiting = [], ...changes } = circumstances;
  const clock = frozenClock();
  const did: string[] = [];
  let timers: { readonly at: number; act(): void }[] = [];
  let asked = 0;
  const note = (what: string) => did.push(`${clock.now() - noon} ${what}`);
  const watch = makeStartAttemptWatch({
    tracker: {
      recordQuick: () => void note('quick'),
      recordSlow: async () => void note('slow'),
      recordSlowDns: async () => void note('slow DNS'),
      recordDuration: async (_, milliseconds) => void note(`takes ${milliseconds}`),
      recordQuickSuccess: async () => void note('quick success'),
    },
    hasMessages: async () => {
      note('asks');
      return waiting[asked++] ?? false;
    },
    after: (milliseconds, act) => {
      const entry = { at: clock.now() + milliseconds, act };
      timers.push(entry);
      return () => {
        timers = timers.filter(other => other !== entry);
      };
    },
    now: clock.now,
    elapsed: clock.now,
    turn: clock.time.turn,
    lane: 'first',
    giveUp: 'waiting',
    attemptTimeoutMs: 15_000,
    ...changes,
  })(aWebhook(), slowness);
  watch.signal.addEventListener('abort', () => note('gives up'));
  return {
    ...watch,
    did,
    clock,
    timers: () => timers.length,
    /** Lets time go by, timer by timer. */
    pass: async (milliseconds: number) => {
      const until = clock.now() + milliseconds;
      for (;;) {
        const next = timers.toSorted((one, other) => one.at - other.at).find(({ at }) => at <= until);
        clock.set(next?.at ?? until);
        if (!next) return;
        timers = timers.filter(timer => timer !== next);
        next.act();
        await new Promise(setImmediate);
      }
    },
  };
};

const record = aRecord();
const delivered: AttemptOutcome = { outcome: 'delivered', record };
const failed: AttemptOutcome = { outcome: 'failed', record, retryAfterMs: undefined };
const internal: AttemptOutcome = { outcome: 'internal_error', record };

/** A step of an attempt, milliseconds that pass, or its end. In 2,001 ms in which the process is `busy` no timer fires. */
type Step = 'onResolving' | 'onAsking' | 'onConnecting' | 'onAnswered' | 'busy' | number | AttemptOutcome;

/** Watches an attempt through its steps. */
const watched = async (circumstances: Circumstances, steps: readonly Step[]) => {
  const watch = timing(circumstances);
  for (const step of steps) {
    if (typeof step === 'number') await watch.pass(step);
    else if (step === 'busy') watch.clock.advance(2_001);
    else if (typeof step === 'string') watch[step]();
    else await watch.end(step);
  }
  return watch;
};

const connected = ['onResolving', 'onConnecting'] as const;
const answered = [...connected, 'onAnswered'] as const;
const held = { ...slow, reachedAt: noon - 59_999 };
const measured = withDuration(slow, 15_000, noon) ?? slow;

describe('an attempt that is not answered 2 s after connecting began', () => {
  it.each<[string, Circumstances, readonly Step[], string[]]>([
    [
      'is recorded as slow while it is in flight, and then kept where nobody waits',
      {},
      ['onResolving', 500, 'onConnecting', 14_000],
      ['2500 slow', ...Array.from({ length: 13 }, (_, at) => `${2_500 + at * 1_000} asks`)],
    ],
    [
      'is given up at once where messages wait, after it is recorded',
      { waiting: [true] },
      [...connected, 15_000],
      ['2000 slow', '2000 asks', '2000 gives up'],
    ],
    [
      'is given up at the second from which messages wait',
      { waiting: [false, false, true], lane: 'retry' },
      [...connected, 15_000],
      ['2000 slow', '2000 asks', '3000 asks', '4000 asks', '4000 gives up'],
    ],
    [
      'is given up without asking where the stage says always',
      { giveUp: 'always' },
      [...connected, 15_000],
      ['2000 slow', '2000 gives up'],
    ],
    ['is never given up in the slow lane', { lane: 'slow', waiting: [true] }, [...connected, 4_000], ['2000 slow']],
    ['nor where the stage says always', { lane: 'slow', giveUp: 'always' }, [...connected, 4_000], ['2000 slow']],
    [
      'is slow, too, where its last header came before the timer fired',
      {},
      [...connected, 'busy', 'onAnswered', delivered],
      ['2001 slow'],
    ],
    ['is not counted as quick, however it ends', {}, [...connected, 2_000, delivered], ['2000 slow', '2000 asks']],
  ])('%s', async (_, circumstances, steps, expected) => {
    expect((await watched(circumstances, steps)).did).toEqual(expected);
  });

  it.each<[string, readonly Step[], 'onConnecting' | 'onAnswered']>([
    ['the receiver’s', [...connected, 2_000], 'onAnswered'],
    ['the name server’s', ['onResolving', 2_000], 'onConnecting'],
  ])('is not given up by an answer of the queue that comes after %s', async (_, steps, next) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const watch = await watched({ hasMessages: () => promise }, steps);
    watch[next]();
    resolve(true);
    await watch.pass(1_000);
    expect(watch.signal.aborted).toBe(false);
    if (next === 'onAnswered') expect(watch.timers()).toBe(0);
  });
});

describe('a name that is not resolved after 2 s', () => {
  it.each<[string, Circumstances, readonly Step[], string[]]>([
    [
      'is recorded, and its attempt is given up where messages wait',
      { waiting: [false, true] },
      ['onResolving', 'onAsking', 15_000],
      ['2000 slow DNS', '2000 asks', '3000 asks', '3000 gives up'],
    ],
    [
      'is not recorded where another attempt asked, but given up all the same',
      { waiting: [true] },
      ['onResolving', 15_000],
      ['2000 asks', '2000 gives up'],
    ],
    [
      'counts no more once connecting has begun: the receiver has 2 s of its own',
      { waiting: [false, true] },
      ['onResolving', 'onAsking', 2_500, 'onConnecting', 2_000],
      ['2000 slow DNS', '2000 asks', '4500 slow', '4500 asks', '4500 gives up'],
    ],
  ])('%s', async (_, circumstances, steps, expected) => {
    expect((await watched(circumstances, steps)).did).toEqual(expected);
  });
});

describe('the end of an attempt', () => {
  it.each<[string, Slowness, readonly Step[], string[]]>([
    ['a quick success', unknownSlowness, [...connected, 1_999, 'onAnswered', delivered], ['1999 quick']],
    ['a quick failure', unknownSlowness, [...answered, failed], ['0 quick']],
    ['a name that does not exist', unknownSlowness, ['onResolving', failed], []],
    ['an internal error', unknownSlowness, [...answered, internal], []],
    ['a success of a slow webhook, whose hold is over', slow, [...answered, delivered], ['0 quick', '0 quick success']],
    ['a success of a slow webhook, whose hold is not over', held, [...answered, delivered], ['0 quick']],
    ['a failure of a slow webhook, whose hold is over', slow, [...answered, failed], ['0 quick']],
  ])('counts what was over in time, and ends slowness: %s', async (_, slowness, steps, expected) => {
    expect((await watched({ slowness }, steps)).did).toEqual(expected);
  });

  it('leaves no timer behind, and waits until what was recorded is stored', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const tracker = { ...silentTracker, recordSlow: () => promise };
    const { end, timers, did } = await watched({ tracker }, [...connected, 2_000]);
    const done = end(failed).then(() => did.push('ended'));
    await new Promise(setImmediate);
    expect(timers()).toBe(0);
    expect(did).not.toContain('ended');
    resolve();
    await done;
  });
});

describe('how long attempts at a slow webhook take', () => {
  it.each<[string, Circumstances, readonly Step[], string[]]>([
    [
      'is taken to be the deadline after 5 s, while the attempt is in flight, and is what it was at its end',
      { lane: 'slow', slowness: slow },
      [...connected, 6_000, 'onAnswered', failed],
      ['2000 slow', '5000 takes 15000', '6000 takes 6000'],
    ],
    [
      'is recorded where that changes something only',
      { lane: 'slow', slowness: measured },
      [...connected, 15_000, failed],
      ['2000 slow'],
    ],
    [
      'is recorded in the slow lane only',
      { lane: 'retry', slowness: slow },
      [...connected, delivered],
      ['0 quick', '0 quick success'],
    ],
    [
      'has the time in it in which the name was resolved, and ends with the last header',
      { lane: 'slow', slowness: slow },
      ['onResolving', 4_000, 'onConnecting', 50, 'onAnswered', 900, delivered],
      ['4950 quick', '4950 quick success', '4950 takes 4050'],
    ],
    // Bug: an attempt that ended in DNS had no duration, so that a webhook kept the pace of its quick answers.
    [
      'is known of a name that nobody resolves, too',
      { lane: 'slow', slowness: withDuration(slow, 2_500, noon) ?? slow },
      ['onResolving', 6_000, failed],
      ['5000 takes 15000', '6000 takes 6000'],
    ],
    ['is not known of an internal error', { lane: 'slow', slowness: slow }, [...connected, internal], []],
    ['is recorded of webhooks that are slow only', { lane: 'slow' }, [...connected, delivered], ['0 quick']],
  ])('%s', async (_, circumstances, steps, expected) => {
    expect((await watched(circumstances, steps)).did).toEqual(expected);
  });
});

describe('our own part of an attempt', () => {
  it('counts for nothing: a key that takes 10 s to open is nobody’s slowness', async () => {
    const watch = timing({ waiting: Array(20).fill(true) });
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    const attempt = attemptWith({
      sealing: { open: (sealed, binding) => opened.then(() => sealing.open(sealed, binding)) },
      post: async ({ onConnecting, onAnswered }) => {
        onConnecting?.();
        onAnswered?.();
        return answer(200);
      },
      now: watch.clock.now,
    });
    const made = attempt(aWebhook(), aDelivery(), watch);
    await watch.pass(10_000);
    resolve();
    await watch.end(await made);
    expect(watch.did).toEqual(['10000 quick']);
  });

  it('counts for nothing, too, where it fails', async () => {
    const watch = timing();
    const attempt = attemptWith({ sealing: { open: () => Promise.reject(new Error('no key')) } });
    await watch.end(await attempt(aWebhook(), aDelivery(), watch));
    expect(watch.did).toEqual([]);
  });
});
