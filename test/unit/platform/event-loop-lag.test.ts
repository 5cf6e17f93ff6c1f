import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeEventLoopLag } from '../../../lambdas/platform/event-loop-lag.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';

describe('a process', () => {
  let moment = 0;
  beforeEach(() => {
    moment = 0;
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());

  const eventLoopLag = makeEventLoopLag({ ...systemTime, elapsed: () => moment });
  /** Time goes by, and timers fire on time. */
  const pass = (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 10) {
      moment += 10;
      vi.advanceTimersByTime(10);
    }
  };
  /** The process stands still: what was due meanwhile fires afterwards. */
  const standStill = (milliseconds: number) => {
    moment += milliseconds;
    vi.advanceTimersByTime(milliseconds);
  };

  it('is not late while its timers fire on time', () => {
    const watch = eventLoopLag.begin();
    pass(15_000);
    expect(watch.lateness()).toBe(0);
    expect(watch.elapsed()).toBe(15_000);
    watch.end();
  });

  it.each([
    [140, 0],
    [150, 50],
    [300, 200],
    [5_000, 4_900],
  ])('that stands still for %i ms just after its timer fired is late by %i ms', (milliseconds, expected) => {
    const watch = eventLoopLag.begin();
    pass(1_000);
    standStill(milliseconds);
    expect(watch.lateness()).toBe(expected);
    pass(1_000);
    expect(watch.lateness()).toBe(expected);
    expect(watch.elapsed()).toBe(2_000 + milliseconds - expected);
    watch.end();
  });

  it('adds up what it was late', () => {
    const watch = eventLoopLag.begin();
    for (let time = 0; time < 5; time++) {
      standStill(300);
      pass(200);
    }
    expect(watch.lateness()).toBe(5 * 200);
    watch.end();
  });

  it('is late already before the overdue timer fires, and its clock has stood still since that was due', () => {
    const watch = eventLoopLag.begin();
    moment += 400;
    expect(watch.lateness()).toBe(300);
    expect(watch.elapsed()).toBe(100);
    vi.advanceTimersByTime(400);
    expect(watch.lateness()).toBe(300);
    expect(watch.elapsed()).toBe(100);
    watch.end();
  });

  it('is late, for each watch, from the beginning of that on', () => {
    const first = eventLoopLag.begin();
    standStill(1_100);
    pass(500);
    const second = eventLoopLag.begin();
    pass(500);
    expect(first.lateness()).toBe(1_000);
    expect(second.lateness()).toBe(0);
    expect(second.elapsed()).toBe(500);
    first.end();
    second.end();
  });

  it('is late by the rest for a watch that begins while it stands still', () => {
    const first = eventLoopLag.begin();
    moment += 700;
    const second = eventLoopLag.begin();
    expect(second.elapsed()).toBe(0);
    moment += 300;
    vi.advanceTimersByTime(1_000);
    expect(first.lateness()).toBe(900);
    expect(second.lateness()).toBe(300);
    expect(second.elapsed()).toBe(0);
    first.end();
    second.end();
  });

  it('is not late for having been frozen while nobody watched', () => {
    const first = eventLoopLag.begin();
    pass(100);
    first.end();
    expect(vi.getTimerCount()).toBe(0);
    moment += 3_600_000;
    const second = eventLoopLag.begin();
    pass(1_000);
    expect(second.lateness()).toBe(0);
    second.end();
  });

  it('keeps its timer while somebody still watches', () => {
    const first = eventLoopLag.begin();
    const second = eventLoopLag.begin();
    first.end();
    pass(100);
    standStill(600);
    expect(second.lateness()).toBe(500);
    second.end();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('this process', () => {
  it('is late when its event loop is blocked', async () => {
    const watch = makeEventLoopLag(systemTime).begin();
    const until = performance.now() + 400;
    while (performance.now() < until);
    const lateness = watch.lateness();
    expect(lateness).toBeGreaterThanOrEqual(300);
    await new Promise(resolve => setTimeout(resolve, 120));
    expect(watch.lateness()).toBeGreaterThanOrEqual(lateness);
    watch.end();
  });
});
