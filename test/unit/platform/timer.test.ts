import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { afterEvents, systemTime, withDeadline } from '../../../lambdas/platform/timer.ts';

// client-settings.test.ts and egress/guarded-post.test.ts test that a delayed timer fires after pending events.

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a timer', () => {
  it.each<[string, number | undefined, number, number]>([
    ['not before its end', undefined, 1_999, 0],
    ['once, at its end', undefined, 5_000, 1],
    ['not if it is cancelled', 0, 5_000, 0],
    ['not if it is cancelled in its last turn', 2_000, 5_000, 0],
  ])('of 2 s fires %s', async (_case, cancelledAfter, passed, times) => {
    const act = vi.fn();
    const cancel = afterEvents(2_000, act);
    if (cancelledAfter === 0) cancel();
    else if (cancelledAfter) setTimeout(cancel, cancelledAfter);
    await vi.advanceTimersByTimeAsync(passed);
    if (passed > 2_000) await vi.advanceTimersByTimeAsync(1); // fake immediates take 1 ms
    expect(act).toHaveBeenCalledTimes(times);
  });
});

describe('work with a deadline', () => {
  const { after } = systemTime;

  it('is aborted through its signal, and leaves no timer if it ends in time', async () => {
    expect(await withDeadline(after, 1_000, async () => 'done')).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
    const ended = withDeadline(after, 1_000, async signal => {
      await new Promise(resolve => signal.addEventListener('abort', resolve));
      throw signal.reason;
    });
    const late = expect(ended).rejects.toMatchObject({ name: 'TimeoutError' });
    await vi.advanceTimersByTimeAsync(1_000);
    await late;
  });

  it('is aborted if one part fails', async () => {
    const aborted = vi.fn();
    const work = withDeadline(after, 1_000, signal => {
      signal.addEventListener('abort', aborted);
      return Promise.all([Promise.reject(new Error('one')), new Promise(() => {})]);
    });
    await expect(work).rejects.toThrow('one');
    expect(aborted).toHaveBeenCalledOnce();
  });
});
