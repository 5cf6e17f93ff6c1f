import { createHook } from 'node:async_hooks';
import { scryptSync, subtle } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeTime } from '../src/time.ts';

it('runs events by time, and simultaneous events in the order in which they were scheduled', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ moment: fc.nat(20), isCancelled: fc.boolean() })), async plans => {
      const time = makeTime(0);
      const ran: { moment: number; index: number }[] = [];
      plans.forEach(({ moment, isCancelled }, index) => {
        const cancel = time.at(moment, () => ran.push({ moment: time.now(), index }));
        if (isCancelled) cancel();
      });
      await time.runUntil(20);
      const expected = plans.map(({ moment, isCancelled }, index) => ({ moment, index, isCancelled }));
      expect(ran).toEqual(
        expected
          .filter(({ isCancelled }) => !isCancelled)
          .sort((one, other) => one.moment - other.moment || one.index - other.index)
          .map(({ moment, index }) => ({ moment, index })),
      );
    }),
    { numRuns: 50 },
  );
});

it.each<[string, () => Promise<unknown>]>([
  [
    'a thousand promises',
    async () => {
      for (let step = 0; step < 1_000; step += 1) await step;
    },
  ],
  [
    'ticks among promises',
    async () => {
      for (let step = 0; step < 100; step += 1) await new Promise<void>(resolve => process.nextTick(resolve));
    },
  ],
  [
    "work on Node's threads",
    async () => {
      for (let step = 0; step < 20; step += 1) await subtle.digest('SHA-256', Buffer.alloc(1e5));
    },
  ],
])('waits for %s to settle before the next event', async (_, work) => {
  const time = makeTime(0);
  const said: string[] = [];
  time.at(1, () => void work().then(() => said.push('settled')));
  time.at(1, () => said.push('next'));
  await time.runUntil(1);
  expect(said).toEqual(['settled', 'next']);
});

it('does not wait for synchronous jobs, although Node does not report their end', { timeout: 2_000 }, async () => {
  const jobs: object[] = []; // prevents garbage collection, because Node reports the end of a collected job
  const hook = createHook({ init: (_id, type, _trigger, job) => void (type === 'SCRYPTREQUEST' && jobs.push(job)) });
  hook.enable();
  const time = makeTime(0);
  time.at(1, () => void scryptSync('password', 'salt', 16, { N: 2 }));
  await time.runUntil(1);
  hook.disable();
  expect(jobs).toHaveLength(1);
});

it('rejects if an event throws, and can continue afterwards', async () => {
  const time = makeTime(0);
  time.at(1, () => {
    throw new Error('broken');
  });
  time.at(2, () => {});
  await expect(time.runUntil(5)).rejects.toThrow('broken');
  await time.runUntil(5);
  expect(time.now()).toBe(5);
});
