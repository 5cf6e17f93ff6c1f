import { describe, expect, it, vi } from 'vitest';
import { makeKeptCalls } from '../../../lambdas/platform/kept-calls.ts';
import { frozenClock } from '../../support/clock.ts';
import { useVirtualTime } from '../../support/virtual-time.ts';

/** A memory of calls, and each call that was made. */
const remembering = () => {
  useVirtualTime();
  const clock = frozenClock();
  const calls = makeKeptCalls<string, number>(clock.time);
  const made: PromiseWithResolvers<number>[] = [];
  const call = () => {
    const { promise, ...settle } = Promise.withResolvers<number>();
    made.push({ promise, ...settle });
    return promise;
  };
  const beginEarly = () => void calls.beginEarly('a', call).catch(() => undefined);
  return { clock, calls, made, beginEarly, get: (maxAge = 30_000) => calls.get('a', maxAge, call) };
};

describe('a call whose result is kept', () => {
  it('is shared while it is under way, and kept until it is too old', async () => {
    const { clock, made, get } = remembering();
    const both = [get(), get()];
    made[0]?.resolve(7);
    expect(await Promise.all(both)).toEqual([7, 7]);
    clock.advance(29_999);
    expect(await get()).toBe(7);
    clock.advance(1);
    void get();
    expect(made).toHaveLength(2);
  });

  it('is not kept where it fails, and does not take a later one with it', async () => {
    const { made, get } = remembering();
    const [first, second] = [get(), get(0)];
    made[1]?.resolve(8);
    expect(await second).toBe(8);
    made[0]?.reject(new Error('late'));
    await expect(first).rejects.toThrow('late');
    expect(await get()).toBe(8);
    expect(made).toHaveLength(2);
  });
});

describe('a call that began while the function loaded', () => {
  it('serves a request that comes while it is under way, and those after it', async () => {
    const { made, beginEarly, get } = remembering();
    beginEarly();
    const asked = get();
    made[0]?.resolve(7);
    expect([await asked, await get()]).toEqual([7, 7]);
    expect(made).toHaveLength(1);
  });

  it('is as old as its beginning', async () => {
    const { clock, made, beginEarly, get } = remembering();
    beginEarly();
    made[0]?.resolve(7);
    await get();
    clock.advance(30_000);
    void get();
    expect(made).toHaveLength(2);
  });

  it('is made anew, once, by requests that wait for it when it fails', async () => {
    const { made, beginEarly, get } = remembering();
    beginEarly();
    const asked = [get(), get()];
    made[0]?.reject(new Error('early'));
    await expect.poll(() => made).toHaveLength(2);
    made[1]?.resolve(8);
    expect(await Promise.all(asked)).toEqual([8, 8]);
    expect(made).toHaveLength(2);
  });

  it('is waited for until it is a second old, and made anew then; what it brings later counts no more', async () => {
    const { clock, made, beginEarly, get } = remembering();
    beginEarly();
    clock.advance(400);
    const asked = get();
    await vi.advanceTimersByTimeAsync(599);
    expect(made).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(made).toHaveLength(2);
    made[0]?.resolve(7);
    made[1]?.resolve(8);
    expect([await asked, await get()]).toEqual([8, 8]);
  });

  it('is made anew at once where the process was frozen for minutes', async () => {
    const { clock, made, beginEarly, get } = remembering();
    beginEarly();
    clock.advance(5 * 60_000);
    void get(Number.POSITIVE_INFINITY);
    await Promise.resolve();
    expect(made).toHaveLength(2);
  });

  it('is not made where one is kept', async () => {
    const { made, beginEarly, get } = remembering();
    void get();
    beginEarly();
    expect(made).toHaveLength(1);
  });
});
