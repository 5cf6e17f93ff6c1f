import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeEventLoopLag } from '../../../../lambdas/delivery/isolation/event-loop-lag.ts';

describe('a process', () => {
  let moment = 0;
  beforeEach(() => {
    moment = 0;
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());

  const lateness = makeEventLoopLag(() => moment);
  /** Time goes by, and timers fire on time. */
  const pass = (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 10) {
      moment += 10;
      vi.advanceTimersByTime(10);
    }
  };
  /** Time goes by without any timer: the process is at something else. */
  const block = (milliseconds: number) => {
    moment += milliseconds;
  };

  it('is not late while its timers fire on time', () => {
    const watch = lateness.begin();
    pass(15_000);
    expect(watch.wasLate()).toBe(false);
    watch.end();
  });

  it.each([
    [200, false],
    [310, true],
  ])('was blocked for %i ms: late is %s', (milliseconds, expected) => {
    const watch = lateness.begin();
    pass(1_000);
    block(milliseconds);
    expect(watch.wasLate()).toBe(expected); // also before its own timer fires
    pass(1_000);
    expect(watch.wasLate()).toBe(expected);
    watch.end();
  });

  it('is judged from the beginning of a watch on', () => {
    const first = lateness.begin();
    block(1_000);
    pass(500);
    const second = lateness.begin();
    pass(500);
    expect(first.wasLate()).toBe(true);
    expect(second.wasLate()).toBe(false);
    first.end();
    second.end();
  });

  it('is not late for having been frozen while nobody watched', () => {
    const first = lateness.begin();
    pass(100);
    first.end();
    expect(vi.getTimerCount()).toBe(0);
    block(3_600_000);
    const second = lateness.begin();
    pass(1_000);
    expect(second.wasLate()).toBe(false);
    second.end();
  });

  it('keeps its timer while somebody still watches', () => {
    const first = lateness.begin();
    const second = lateness.begin();
    first.end();
    pass(1_000);
    block(500);
    pass(100);
    expect(second.wasLate()).toBe(true);
    second.end();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('this process', () => {
  it('is late when its event loop is blocked for 400 ms', async () => {
    const watch = makeEventLoopLag().begin();
    const until = performance.now() + 400;
    while (performance.now() < until);
    expect(watch.wasLate()).toBe(true);
    watch.end();
  });

  it('is late, too, where that is asked for long afterwards', async () => {
    const watch = makeEventLoopLag().begin();
    const until = performance.now() + 400;
    while (performance.now() < until);
    await new Promise(resolve => setTimeout(resolve, 120));
    expect(watch.wasLate()).toBe(true);
    watch.end();
  });
});
