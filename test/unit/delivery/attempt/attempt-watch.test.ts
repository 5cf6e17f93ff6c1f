import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type AttemptWatchDependencies,
  makeStartAttemptWatch,
} from '../../../../lambdas/delivery/attempt/attempt-watch.ts';
import type { AttemptOutcome } from '../../../../lambdas/delivery/delivery.ts';
import { type Slowness, unknownSlowness, withSlowAttempts } from '../../../../lambdas/delivery/lanes/slowness.ts';
import { systemTime } from '../../../../lambdas/platform/timer.ts';
import { aDelivery, aResponse, attemptWith, aWebhook, failure, internalError, noon, success } from '../builders.ts';
import { encryption } from '../test-keyring.ts';

interface Circumstances extends Partial<AttemptWatchDependencies> {
  readonly slowness?: Slowness;
  /** The consecutive results of `isBusy`. After the last one, the result is `false`. */
  readonly busy?: readonly boolean[];
}

const slow = withSlowAttempts(unknownSlowness, { slow: 2, quick: 0 }, noon - 60_000);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: noon });
  onTestFinished(() => void vi.useRealTimers());
});
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

/** Starts the watch of one attempt. Returns the watch and its effects, each with its time since noon. */
const timing = (circumstances: Circumstances = {}) => {
  const { slowness = unknownSlowness, busy = [], ...changes } = circumstances;
  const effects: string[] = [];
  let checks = 0;
  const note = (effect: string) => effects.push(`${Date.now() - noon} ${effect}`);
  const watch = makeStartAttemptWatch({
    tracker: {
      recordQuick: () => void note('quick'),
      recordSlow: async () => void note('slow'),
      recordQuickResponse: async () => void note('quick again'),
    },
    ...{ after: systemTime.after, now: Date.now, elapsed: Date.now, turn: async () => {}, lane: 'first' },
    ...changes,
  })(aWebhook(), slowness, () => {
    note('checks');
    return busy[checks++] ?? false;
  });
  watch.signal.addEventListener('abort', () => note('gives up'));
  return { ...watch, effects };
};

const [failed, internal] = [failure(), internalError()];

/** A step of an attempt, a number of milliseconds that pass, or the end. `stalled` means that no timer fires for 2,001 ms. */
type Step = 'onResolving' | 'onResponse' | 'stalled' | number | AttemptOutcome;

const watched = async (circumstances: Circumstances, steps: readonly Step[]) => {
  const watch = timing(circumstances);
  for (const step of steps) {
    if (typeof step === 'number') await pass(step);
    else if (step === 'stalled') vi.setSystemTime(Date.now() + 2_001);
    else if (typeof step === 'string') watch[step]();
    else await watch.end(step);
  }
  return watch;
};

const held = { ...slow, reachedAt: noon - 59_999 };
const responded = ['onResolving', 'onResponse'] as const;
const withoutResponse = failure({ result: 'connection', status: null });

describe('an attempt without a response 2 s after name resolution started', () => {
  it.each<[string, Circumstances, readonly Step[], string[]]>([
    [
      'is recorded as slow while it is in flight, and continues while the process is not busy',
      {},
      ['onResolving', 15_000],
      ['2000 slow', ...Array.from({ length: 14 }, (_, at) => `${2_000 + at * 1_000} checks`)],
    ],
    [
      'is recorded as slow, and given up at once if the process is busy',
      { busy: [true] },
      ['onResolving', 15_000],
      ['2000 slow', '2000 checks', '2000 gives up'],
    ],
    [
      'is given up within 1 s after the process becomes busy',
      { busy: [false, false, true], lane: 'retry' },
      ['onResolving', 15_000],
      ['2000 slow', '2000 checks', '3000 checks', '4000 checks', '4000 gives up'],
    ],
    ['is never given up in the slow lane', { lane: 'slow', busy: [true] }, ['onResolving', 4_000], ['2000 slow']],
    [
      'is slow if its last header arrived late but before the timer fired',
      {},
      ['onResolving', 'stalled', 'onResponse', success],
      ['2001 slow'],
    ],
    ['is not counted as quick when it ends', {}, ['onResolving', 2_000, success], ['2000 slow', '2000 checks']],
  ])('%s', async (_, circumstances, steps, expected) => {
    expect((await watched(circumstances, steps)).effects).toEqual(expected);
  });
});

describe('the end of an attempt', () => {
  it.each<[string, Slowness, readonly Step[], string[]]>([
    ['a quick success', unknownSlowness, ['onResolving', 1_999, 'onResponse', success], ['1999 quick']],
    ['a quick failure', unknownSlowness, [...responded, failed], ['0 quick']],
    ['an internal error', unknownSlowness, [...responded, internal], []],
    ['a success of a slow webhook after its hold', slow, [...responded, success], ['0 quick', '0 quick again']],
    ['a success of a slow webhook during its hold', held, [...responded, success], ['0 quick']],
    ['a quick 500 of a slow webhook after its hold', slow, [...responded, failed], ['0 quick', '0 quick again']],
    ['no response of a slow webhook after its hold', slow, ['onResolving', withoutResponse], ['0 quick']],
  ])('records a quick attempt and may end the slowness: %s', async (_, slowness, steps, expected) => {
    expect((await watched({ slowness }, steps)).effects).toEqual(expected);
  });

  it('stops the timer, and waits until the slow attempt is stored', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const tracker = { recordQuick: () => {}, recordSlow: () => promise, recordQuickResponse: async () => {} };
    const { end, effects } = await watched({ tracker }, ['onResolving', 2_000]);
    const done = end(failed).then(() => effects.push('ended'));
    await new Promise(setImmediate);
    expect(vi.getTimerCount()).toBe(0);
    expect(effects).not.toContain('ended');
    resolve();
    await done;
  });
});

describe('the time before name resolution', () => {
  it('does not make a webhook slow, even if a key takes 10 s to unwrap', async () => {
    const watch = timing({ busy: Array(20).fill(true) });
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    const attempt = attemptWith({
      encryption: { decrypt: (encrypted, binding) => opened.then(() => encryption.decrypt(encrypted, binding)) },
      post: async ({ onResponse }) => {
        onResponse?.();
        return aResponse(200);
      },
      now: Date.now,
    });
    const outcome = attempt(aWebhook(), aDelivery(), watch);
    await pass(10_000);
    resolve();
    await watch.end(await outcome);
    expect(watch.effects).toEqual(['10000 quick']);
  });

  it('is not counted if the attempt fails during this time', async () => {
    const watch = timing();
    const attempt = attemptWith({ encryption: { decrypt: () => Promise.reject(new Error('no key')) } });
    await watch.end(await attempt(aWebhook(), aDelivery(), watch));
    expect(watch.effects).toEqual([]);
  });
});
