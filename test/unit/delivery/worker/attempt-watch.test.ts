import { describe, expect, it } from 'vitest';
import {
  type Slowness,
  unknownSlowness,
  withDuration,
  withSlowDns,
} from '../../../../lambdas/delivery/isolation/slowness.ts';
import { makeAttempt } from '../../../../lambdas/delivery/worker/attempt.ts';
import {
  type AttemptWatchDependencies,
  makeStartAttemptWatch,
} from '../../../../lambdas/delivery/worker/attempt-watch.ts';
import { frozenClock } from '../../../support/clock.ts';
import { aDelivery, answer, aRecord, aWebhook, neverLate, noon } from '../builders.ts';
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
  let ended = 0;
  const note = (what: string) => did.push(`${clock.now() - noon} ${what}`);
  const watch = makeStartAttemptWatch({
    tracker: {
      recordQuick: () => void note('quick'),
      recordSlow: async () => void note('slow'),
      recordSlowDns: async () => void note('slow DNS'),
      recordDuration: async (_, milliseconds) => void note(`takes ${milliseconds}`),
      recordQuickSuccess: async () => void note('quick success'),
    },
    eventLoopLag: { begin: () => ({ lateness: () => 0, elapsed: clock.now, end: () => void ended++ }) },
    dnsTimeouts: { begin: () => () => undefined, recordTimeout: () => false },
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
    ended: () => ended,
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
const delivered = (sinceConnectingMs: number) => ({ outcome: 'delivered', record, sinceConnectingMs }) as const;
const failed = (sinceConnectingMs?: number) =>
  ({
    outcome: 'failed',
    record,
    retryAfterMs: undefined,
    detail: '',
    ...(sinceConnectingMs !== undefined && { sinceConnectingMs }),
  }) as const;

describe('an attempt that is not answered 2 s after connecting began', () => {
  it('is recorded as slow while it is in flight, and then kept where nobody waits', async () => {
    const { onResolving, onConnecting, pass, did, signal } = timing();
    onResolving();
    await pass(500);
    onConnecting();
    await pass(1_999);
    expect(did).toEqual([]);
    await pass(1);
    expect(did).toEqual(['2500 slow', '2500 asks']);
    await pass(12_000);
    expect(signal.aborted).toBe(false);
    expect(did.slice(2)).toEqual(Array.from({ length: 12 }, (_, at) => `${3_500 + at * 1_000} asks`));
  });

  it('is given up at once where messages wait, after it is recorded', async () => {
    const { onResolving, onConnecting, pass, did } = timing({ waiting: [true] });
    onResolving();
    onConnecting();
    await pass(15_000);
    expect(did).toEqual(['2000 slow', '2000 asks', '2000 gives up']);
  });

  it('is given up at the second from which messages wait', async () => {
    const { onResolving, onConnecting, pass, did } = timing({ waiting: [false, false, true], lane: 'retry' });
    onResolving();
    onConnecting();
    await pass(15_000);
    expect(did).toEqual(['2000 slow', '2000 asks', '3000 asks', '4000 asks', '4000 gives up']);
  });

  it('is given up without asking where the stage says always', async () => {
    const { onResolving, onConnecting, pass, did } = timing({ giveUp: 'always' });
    onResolving();
    onConnecting();
    await pass(15_000);
    expect(did).toEqual(['2000 slow', '2000 gives up']);
  });

  it.each(['waiting', 'always'] as const)('is never given up in the slow lane: %s', async giveUp => {
    const { onResolving, onConnecting, pass, did } = timing({ lane: 'slow', giveUp, waiting: [true] });
    onResolving();
    onConnecting();
    await pass(4_000);
    expect(did).toEqual(['2000 slow']);
  });

  it('is not given up by an answer of the queue that comes after the receiver’s', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { onResolving, onConnecting, onAnswered, pass, signal, timers } = timing({
      hasMessages: () => promise,
    });
    onResolving();
    onConnecting();
    await pass(2_000);
    onAnswered();
    resolve(true);
    await pass(10_000);
    expect(signal.aborted).toBe(false);
    expect(timers()).toBe(0);
  });

  it('is slow, too, where its last header came before the timer fired', async () => {
    const { onResolving, onConnecting, onAnswered, end, did } = timing();
    onResolving();
    onConnecting();
    onAnswered();
    await end(delivered(2_001));
    expect(did).toEqual(['0 slow']);
  });
});

describe('a name that is not resolved after 2 s', () => {
  it('is recorded, and its attempt is given up where messages wait', async () => {
    const { onResolving, onAsking, pass, did } = timing({ waiting: [false, true] });
    onResolving();
    onAsking();
    await pass(15_000);
    expect(did).toEqual(['2000 slow DNS', '2000 asks', '3000 asks', '3000 gives up']);
  });

  it('is not recorded where another attempt asked, but given up all the same', async () => {
    const { onResolving, pass, did } = timing({ waiting: [true] });
    onResolving();
    await pass(15_000);
    expect(did).toEqual(['2000 asks', '2000 gives up']);
  });

  it('is not recorded where our resolver is slow, but given up all the same', async () => {
    const dnsTimeouts = { begin: () => () => undefined, recordTimeout: () => true };
    const { onResolving, onAsking, pass, did } = timing({ dnsTimeouts, giveUp: 'always' });
    onResolving();
    onAsking();
    await pass(15_000);
    expect(did).toEqual(['2000 gives up']);
  });

  it('counts no more once connecting has begun: the receiver has 2 s of its own', async () => {
    const { onResolving, onAsking, onConnecting, pass, did } = timing({ waiting: [false, true] });
    onResolving();
    onAsking();
    await pass(2_500);
    onConnecting();
    await pass(1_999);
    expect(did).toEqual(['2000 slow DNS', '2000 asks']);
    await pass(1);
    expect(did.slice(2)).toEqual(['4500 slow', '4500 asks', '4500 gives up']);
  });

  it('does not give the receiver up by an answer of the queue that comes while that is connected to', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { onResolving, onConnecting, pass, signal } = timing({ hasMessages: () => promise });
    onResolving();
    await pass(2_000);
    onConnecting();
    resolve(true);
    await pass(1_000);
    expect(signal.aborted).toBe(false);
  });

  it('is told to the DNS timeouts from its beginning to its end', async () => {
    const told: string[] = [];
    const begin = (host: string) => {
      told.push(`begins ${host}`);
      return () => void told.push('ends');
    };
    const { onResolving, onConnecting } = timing({ dnsTimeouts: { begin, recordTimeout: () => false } });
    onResolving();
    onConnecting();
    expect(told).toEqual(['begins receiver.example.com', 'ends']);
  });
});

describe('the end of an attempt', () => {
  it.each([
    ['a quick success', delivered(2_000), ['quick']],
    ['a quick failure', failed(5), ['quick']],
    ['a name that does not exist', failed(), []],
    ['an internal error', { outcome: 'internal_error', record, detail: '', sinceConnectingMs: 1 }, []],
  ] as const)('counts what was over in time: %s', async (_, outcome, expected) => {
    const { onResolving, onConnecting, onAnswered, end, did } = timing();
    onResolving();
    onConnecting();
    onAnswered();
    await end(outcome);
    expect(did).toEqual(expected.map(what => `0 ${what}`));
  });

  it('does not count a slow one as quick, however it ends', async () => {
    const { onResolving, onConnecting, pass, end, did } = timing();
    onResolving();
    onConnecting();
    await pass(2_000);
    await end(delivered(2_000));
    expect(did).toEqual(['2000 slow', '2000 asks']);
  });

  it.each([
    ['whose hold is over', slow, delivered(10), ['quick', 'quick success']],
    ['whose hold is not over', { ...slow, reachedAt: noon - 59_999 }, delivered(10), ['quick']],
    ['whose hold is over, by a failure', slow, failed(10), ['quick']],
    ['that is quick', unknownSlowness, delivered(10), ['quick']],
  ])('ends the slowness of a webhook %s', async (_, slowness, outcome, expected) => {
    const { onResolving, onConnecting, end, did } = timing({ slowness });
    onResolving();
    onConnecting();
    await end(outcome);
    expect(did).toEqual(expected.map(what => `0 ${what}`));
  });

  it('leaves no timer behind, stops watching the event loop, and waits until what was recorded is stored', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const nothing = async () => undefined;
    const tracker = {
      recordQuick: () => undefined,
      recordSlow: () => promise,
      recordSlowDns: nothing,
      recordDuration: nothing,
      recordQuickSuccess: nothing,
    };
    const { onResolving, onConnecting, pass, end, timers, ended, did } = timing({ tracker });
    onResolving();
    onConnecting();
    await pass(2_000);
    const done = end(failed(15_000)).then(() => did.push('ended'));
    await new Promise(setImmediate);
    expect(timers()).toBe(0);
    expect(ended()).toBe(1);
    expect(did).not.toContain('ended');
    resolve();
    await done;
  });
});

describe('how long attempts at a slow webhook take', () => {
  it('is taken to be the deadline after 5 s, while the attempt is in flight, and is what it was at its end', async () => {
    const { onResolving, onConnecting, onAnswered, pass, end, did } = timing({ lane: 'slow', slowness: slow });
    onResolving();
    onConnecting();
    await pass(6_000);
    onAnswered();
    await end(failed(6_000));
    expect(did).toEqual(['2000 slow', '5000 takes 15000', '6000 takes 6000']);
  });

  it('is recorded where that changes something only', async () => {
    const slowness = withDuration(slow, 15_000, noon) ?? slow;
    const { onResolving, onConnecting, pass, end, did } = timing({ lane: 'slow', slowness });
    onResolving();
    onConnecting();
    await pass(15_000);
    await end(failed(15_000));
    expect(did).toEqual(['2000 slow']);
  });

  it('is recorded in the slow lane only, and of webhooks that are slow only', async () => {
    for (const changes of [{ lane: 'retry', slowness: slow }, { lane: 'slow' }] as const) {
      const { onResolving, onConnecting, end, did } = timing(changes);
      onResolving();
      onConnecting();
      await end(delivered(10));
      expect(did.filter(what => what.includes('takes'))).toEqual([]);
    }
  });
});

describe('our own part of an attempt', () => {
  it('counts for nothing: a key that takes 10 s to open is nobody’s slowness', async () => {
    const watch = timing({ waiting: Array(20).fill(true) });
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    const attempt = makeAttempt({
      sealing: { open: (sealed, binding) => opened.then(() => sealing.open(sealed, binding)) },
      post: async ({ onConnecting, onAnswered }) => {
        onConnecting?.();
        onAnswered?.();
        return answer(200);
      },
      eventLoopLag: neverLate,
      now: watch.clock.now,
      attemptTimeoutMs: 15_000,
      connectTimeoutMs: 700,
      serviceVersion: '0',
    });
    const made = attempt(aWebhook(), aDelivery(), watch);
    await watch.pass(10_000);
    resolve();
    await watch.end(await made);
    expect(watch.did).toEqual(['10000 quick']);
  });

  it('counts for nothing, too, where it fails', async () => {
    const watch = timing();
    const attempt = makeAttempt({
      sealing: { open: () => Promise.reject(new Error('no key')) },
      post: async () => answer(200),
      eventLoopLag: neverLate,
      now: watch.clock.now,
      attemptTimeoutMs: 15_000,
      connectTimeoutMs: 700,
      serviceVersion: '0',
    });
    await watch.end(await attempt(aWebhook(), aDelivery(), watch));
    expect(watch.did).toEqual([]);
    expect(watch.ended()).toBe(1);
  });
});
