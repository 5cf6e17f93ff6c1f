import { describe, expect, it, vi } from 'vitest';
import { makeCallCache } from '../../../lambdas/platform/call-cache.ts';
import { frozenClock } from '../../support/clock.ts';
import { useVirtualTime } from '../../support/virtual-time.ts';

const startCache = () => {
  useVirtualTime();
  const clock = frozenClock();
  const calls = makeCallCache<string, number>(clock.time);
  const started: PromiseWithResolvers<number>[] = [];
  const call = () => {
    const { promise, ...settle } = Promise.withResolvers<number>();
    started.push({ promise, ...settle });
    return promise;
  };
  const prefetch = () => void calls.prefetch('a', call).catch(() => undefined);
  return { clock, calls, started, prefetch, get: (maxAge = 30_000) => calls.get('a', maxAge, call) };
};

describe('a cached call', () => {
  it('is shared while it is in flight, and cached until it is too old', async () => {
    const { clock, started, get } = startCache();
    const both = [get(), get()];
    started[0]?.resolve(7);
    expect(await Promise.all(both)).toEqual([7, 7]);
    clock.advance(29_999);
    expect(await get()).toBe(7);
    clock.advance(1);
    void get();
    expect(started).toHaveLength(2);
  });

  it('is not cached if it fails, and does not remove a later call', async () => {
    const { started, get } = startCache();
    const [first, second] = [get(), get(0)];
    started[1]?.resolve(8);
    expect(await second).toBe(8);
    started[0]?.reject(new Error('late'));
    await expect(first).rejects.toThrow('late');
    expect(await get()).toBe(8);
    expect(started).toHaveLength(2);
    const third = get(0);
    started[2]?.reject(new Error('third'));
    await expect(third).rejects.toThrow('third');
    void get();
    expect(started).toHaveLength(4);
  });
});

describe('a call that started while the function loaded', () => {
  it('is shared with requests during the call and after it, until it is too old', async () => {
    const { clock, started, prefetch, get } = startCache();
    prefetch();
    const request = get();
    started[0]?.resolve(7);
    expect([await request, await get()]).toEqual([7, 7]);
    expect(started).toHaveLength(1);
    clock.advance(30_000);
    void get();
    expect(started).toHaveLength(2);
  });

  it('is repeated once for all waiting requests if it fails', async () => {
    const { started, prefetch, get } = startCache();
    prefetch();
    const requests = [get(), get()];
    started[0]?.reject(new Error('early'));
    await expect.poll(() => started).toHaveLength(2);
    started[1]?.resolve(8);
    expect(await Promise.all(requests)).toEqual([8, 8]);
    expect(started).toHaveLength(2);
  });

  it('is repeated after 1 s, and its later result is ignored', async () => {
    const { clock, started, prefetch, get } = startCache();
    prefetch();
    clock.advance(400);
    const request = get();
    await vi.advanceTimersByTimeAsync(599);
    expect(started).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(started).toHaveLength(2);
    started[0]?.resolve(7);
    started[1]?.resolve(8);
    expect([await request, await get()]).toEqual([8, 8]);
  });

  it('is repeated at once if the process was frozen for minutes', async () => {
    const { clock, started, prefetch, get } = startCache();
    prefetch();
    clock.advance(5 * 60_000);
    void get(Number.POSITIVE_INFINITY);
    await Promise.resolve();
    expect(started).toHaveLength(2);
  });

  it('does not start if a call is cached', async () => {
    const { started, prefetch, get } = startCache();
    void get();
    prefetch();
    expect(started).toHaveLength(1);
  });
});
