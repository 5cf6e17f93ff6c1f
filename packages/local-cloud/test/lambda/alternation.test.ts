import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { alternate } from '../../src/lambda/alternation.ts';
import type { LocalFunction } from '../../src/lambda/function.ts';
import type { InvocationOutcome } from '../../src/lambda/invocation.ts';

/** A release whose invocations end when the test says so. */
const release = (name: string, concurrency: number) => {
  const running: (() => void)[] = [];
  const fake = {
    definition: { name },
    concurrency,
    invoke: (payload: string) =>
      new Promise<InvocationOutcome>(resolve => {
        running.push(() => resolve({ outcome: 'returned', payload: `${name} ${payload}` }));
      }),
    drain: async () => undefined,
    end: () => {
      for (const finish of running.splice(0)) finish();
    },
  };
  return { running, local: fake as unknown as LocalFunction };
};

it('gives every second invocation to the other release, and counts them', async () => {
  const [own, other] = [release('own', 5), release('other', 5)];
  const both = alternate(own.local, other.local);
  const answers = ['a', 'b', 'c', 'd', 'e'].map(both.invoke);
  await turn();
  both.end();
  expect((await Promise.all(answers)).map(answer => 'payload' in answer && answer.payload)).toEqual([
    'own a',
    'other b',
    'own c',
    'other d',
    'own e',
  ]);
  expect(both.served).toEqual({ own: 3, other: 2 });
  expect(both.definition).toBe(own.local.definition);
});

it('runs no more invocations at once than the function may, and drains those that wait too', async () => {
  const [own, other] = [release('own', 2), release('other', 2)];
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
