import { afterEach, expect, it } from 'vitest';
import { guardGlobals } from '../../src/virtual/guarded-globals.ts';
import { makeVirtualCloud, type ProcessOutside } from '../../src/virtual/virtual-cloud.ts';

let restore = () => {};
afterEach(() => restore());

/** Runs code as that of a function. */
async function run(code: (outside: ProcessOutside) => unknown, isOwn: (file: string) => boolean) {
  const functions = [{ name: 'f', timeout: 60_000, start: (outside: ProcessOutside) => () => code(outside) }];
  const cloud = makeVirtualCloud({ seed: 1, start: 1_000_000, functions });
  restore = guardGlobals({ current: cloud.currentProcess, isOwn, writeLog: cloud.writeLog });
  const outcome = await cloud.invoke('f', {});
  restore();
  return { cloud, outcome };
}

it.each<[string, () => unknown]>([
  ['Date.now', () => Date.now()],
  ['Date.now', () => new Date()],
  ['performance.now', () => performance.now()],
  ['Math.random', () => Math.random()],
  ['setTimeout', () => setTimeout(() => {}, 1)],
  ['setInterval', () => setInterval(() => {}, 1)],
  ['setImmediate', () => setImmediate(() => {})],
])('code of our own that takes %s itself is told so', async (name, code) => {
  const { outcome } = await run(code, file => file === import.meta.filename);
  const message = `${import.meta.filename} asks the machine for ${name} in virtual time.`;
  expect(outcome).toEqual({ status: 'failed', error: new Error(message) });
});

it('libraries have the time and the chance of the process', async () => {
  const { cloud, outcome } = await run(
    async () => {
      const told = [
        Date.now(),
        new Date().toISOString(),
        new Date(5).getTime(),
        performance.now(),
        new Date() instanceof Date,
      ];
      const ticks: number[] = [];
      const interval = setInterval(() => ticks.push(Date.now()), 1_000);
      await new Promise(resolve => setTimeout(resolve, 2_500).unref());
      clearInterval(interval);
      clearTimeout(setTimeout(() => ticks.push(0), 1));
      await new Promise(resolve => setImmediate(resolve));
      process.stdout.write('said\n');
      return [...told, ...ticks.map(tick => tick - 1_000_000), Math.random()];
    },
    () => false,
  );
  const again = await run(
    () => Math.random(),
    () => false,
  );
  expect(outcome).toMatchObject({
    result: [1_000_420, '1970-01-01T00:16:40.420Z', 5, 400, true, 1_420, 2_420, Object(again.outcome).result],
  });
  expect(cloud.logs()).toMatchObject([{ functionName: 'f', text: 'said' }]);
});

it('everything else has those of the machine', async () => {
  await run(
    () => undefined,
    () => true,
  );
  restore = guardGlobals({ current: () => undefined, isOwn: () => true, writeLog: () => {} });
  expect(Date.now()).toBeGreaterThan(Date.UTC(2025, 0, 1));
  await new Promise(resolve => setTimeout(resolve, 1));
  restore();
  expect(setTimeout.name).toBe('setTimeout');
});
