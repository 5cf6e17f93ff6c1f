import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { alternate } from '../../src/lambda/alternation.ts';
import type { LocalFunction } from '../../src/lambda/function.ts';
import type { InvocationOutcome } from '../../src/lambda/invocation.ts';

/** A release whose invocations end when the test says so. */
const release = (concurrency: number) => {
  const running: (() => void)[] = [];
  const invoke = (payload: string) =>
    new Promise<InvocationOutcome>(resolve => running.push(() => resolve({ outcome: 'returned', payload })));
  const fake = { concurrency, invoke };
  return { running, local: fake as unknown as LocalFunction };
};

it('runs no more invocations at once than the function may, and drains those that wait too', async () => {
  const [own, other] = [release(2), release(2)];
  const both = alternate(own.local, other.local);
  const answers = [1, 2, 3, 4, 5].map(number => both.invoke(String(number)));
  let isDrained = false;
  const drained = both.drain().then(() => {
    isDrained = true;
  });
  const running = () => own.running.length + other.running.length;
  await turn();
  expect(running()).toBe(2);
  for (let left = 5; left > 0; left -= 1) {
    expect(isDrained).toBe(false);
    const longest = own.running.length > 0 ? own.running : other.running;
    longest.shift()?.();
    await turn();
    expect(running()).toBe(Math.min(2, left - 1));
  }
  await drained;
  expect(await Promise.all(answers)).toHaveLength(5);
  expect(both.served).toEqual({ own: 3, other: 2 });
});
