import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { FunctionDefinition } from '../../../src/local/lambda/definition.ts';
import { type LocalFunction, makeLocalFunction, makeStartLock } from '../../../src/local/lambda/function.ts';
import { type RuntimeContext, writeRuntimeFiles } from '../../../src/local/lambda/runtime-context.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 }); // processes start slowly on a busy computer

const directory = temporaryDirectory();
let runtimeContext: RuntimeContext;
const made: LocalFunction[] = [];
const lines: string[] = [];
const startLock = makeStartLock();

/** Creates a function from the source code of its module. */
const functionOf = (name: string, code: string, timeoutSeconds = 5, concurrency?: number): LocalFunction => {
  writeFileSync(join(directory, `${name}.mjs`), code);
  const definition: FunctionDefinition = {
    ...{ name, label: `test/${name}`, directory, handler: `${name}.handler`, memory: 128, timeoutSeconds },
    variables: { OWN: 'value' },
    logGroup: `/aws/lambda/${name}`,
  };
  const host = { runtimeContext, startLock, onLine: (_: unknown, line: string) => lines.push(line) };
  const local = makeLocalFunction(definition, host, concurrency);
  made.push(local);
  return local;
};

const returned = async (local: LocalFunction, event: unknown = {}): Promise<unknown> => {
  const result = await local.invoke(JSON.stringify(event));
  if (result.outcome === 'failed') throw new Error(result.error.errorMessage);
  return JSON.parse(result.payload);
};

const errorOf = async (local: LocalFunction, event: unknown = {}) => {
  const result = await local.invoke(JSON.stringify(event));
  return result.outcome === 'failed' ? result.error : result;
};

beforeAll(async () => {
  const preload = { terminatorPort: 1, builtIn: [], mappings: [] };
  const files = await writeRuntimeFiles(directory, preload, '');
  runtimeContext = { ...files, endpoints: { DYNAMODB: 'http://127.0.0.1:8000' } };
});
afterAll(() => {
  for (const { end } of made) end();
});

describe('an invocation', () => {
  it("receives the event, Lambda's context, and the function's environment", async () => {
    const local = functionOf(
      'whole',
      `export const handler = async (event, context) => ({ event, context, left: context.getRemainingTimeInMillis(), variables: process.env });`,
      900,
    );
    const response = (await returned(local, { a: 1 })) as Record<string, object>;
    expect(response).toMatchObject({
      event: { a: 1 },
      context: {
        functionName: 'whole',
        memoryLimitInMB: '128',
        awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
      left: expect.toSatisfy((left: number) => left > 800_000 && left <= 900_000),
      variables: {
        OWN: 'value',
        AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000',
        AWS_REGION: 'us-east-1',
        TZ: ':UTC',
      },
    });
    const inherited = Object.keys(process.env).filter(key => /^(HOME|npm_|VITEST)/.test(key));
    for (const name of inherited) expect(response.variables).not.toHaveProperty(name);
    expect(JSON.stringify(response.variables)).not.toContain('terminatorPort');
  });

  it('reuses an idle process, and starts processes for concurrent invocations up to the concurrency limit', async () => {
    const local = functionOf(
      'counting',
      `let count = 0; export const handler = async ({ milliseconds }) => {
        count += 1; await new Promise(resolve => setTimeout(resolve, milliseconds)); return { count, process: process.pid }; };`,
      5,
      2,
    );
    const first = (await returned(local, { milliseconds: 0 })) as { process: number };
    expect(await returned(local, { milliseconds: 0 })).toEqual({ count: 2, process: first.process });
    const together = (await Promise.all(
      [1, 2, 3, 4].map(() => returned(local, { milliseconds: 1_000 })),
    )) as (typeof first)[];
    expect(new Set(together.map(response => response.process)).size).toBe(2);
    await local.drain();
  });
});

describe('processes', () => {
  /** Returns a module that records the start and the end of its initialisation, which takes 150 ms. */
  const slowStart = (name: string) =>
    `import { appendFileSync } from 'node:fs';
     appendFileSync('starts', 'start ${name}\\n');
     await new Promise(resolve => setTimeout(resolve, 150));
     appendFileSync('starts', 'end ${name}\\n');
     export const handler = async () => new Promise(resolve => setTimeout(() => resolve('${name}'), 300));`;

  it('of all functions start one after another', async () => {
    const one = functionOf('starting-one', slowStart('one'));
    const two = functionOf('starting-two', slowStart('two'));
    const calls = [one, two, one, two, one].map(local => returned(local));
    expect(await Promise.all(calls)).toEqual(['one', 'two', 'one', 'two', 'one']);
    const starts = readFileSync(join(directory, 'starts'), 'utf8').trim().split('\n');
    expect(starts.length).toBeGreaterThanOrEqual(4);
    const pairs = starts.flatMap((line, at) => (at % 2 === 0 ? [[line, starts[at + 1]]] : []));
    const complete = pairs.filter(([, end]) => end !== undefined); // the last process may still be starting
    for (const [start, end] of complete) expect(end).toBe(start?.replace('start', 'end'));
  });

  it('are killed if their start takes more than a minute, so that others can start', async () => {
    const local = functionOf('never', 'await new Promise(resolve => setTimeout(resolve, 3_600_000));');
    const after = functionOf('after', "export const handler = async () => 'well';");
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const result = errorOf(local);
      const next = returned(after);
      await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0), { timeout: 10_000 });
      vi.advanceTimersByTime(60_000);
      expect(await result).toMatchObject({ errorType: 'Sandbox.Timedout' });
      expect(await next).toBe('well');
    } finally {
      vi.useRealTimers();
    }
  });

  it('are reused in order of last use, most recent first, and end after 3 idle minutes', async () => {
    for (const { end } of made) end(); // otherwise `idle` would count their timers
    await wait(200);
    const local = functionOf(
      'resting',
      `import { appendFileSync, readFileSync } from 'node:fs';
       export const handler = async ({ meets }) => {
         if (meets) appendFileSync('meeting', 'x');
         while (meets && readFileSync('meeting', 'utf8').length < 2) await new Promise(resolve => setTimeout(resolve, 20));
         return process.pid;
       };`,
    );
    const isAlive = (pid: number): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      /** Waits for a number of timers. Each idle process has one, and there are no others. */
      const idle = (count: number) => vi.waitFor(() => expect(vi.getTimerCount()).toBe(count), { timeout: 10_000 });
      const both = await Promise.all([returned(local, { meets: true }), returned(local, { meets: true })]);
      expect(new Set(both).size).toBe(2);
      await idle(2);
      const used = await returned(local);
      const other = both.find(pid => pid !== used);
      await idle(2);
      vi.advanceTimersByTime(179_000);
      expect(await returned(local)).toBe(used);
      await idle(2);
      expect(both.map(pid => isAlive(pid as number))).toEqual([true, true]);
      vi.advanceTimersByTime(1_000);
      await vi.waitFor(() => expect(isAlive(other as number)).toBe(false), { timeout: 10_000 });
      expect(await returned(local)).toBe(used);
      await idle(1);
      vi.advanceTimersByTime(180_000);
      expect(await returned(local)).not.toBe(used);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a function', () => {
  it('reports an error of its handler, and reuses its process', async () => {
    const local = functionOf(
      'throwing',
      `export const handler = async ({ bad }) => { if (bad) throw new RangeError('too far'); return process.pid; };`,
    );
    const before = await returned(local);
    expect(await errorOf(local, { bad: true })).toEqual({ errorType: 'RangeError', errorMessage: 'too far' });
    expect(await returned(local)).toBe(before);
    expect(lines.some(line => line.includes('"Invoke Error"') && line.includes('too far'))).toBe(true);
  });

  it('loses its process at the timeout, even in an endless loop, and gets a new one', async () => {
    const local = functionOf(
      'looping',
      'export const handler = async ({ loop }) => { while (loop) {} return process.pid; };',
      1,
    );
    const before = await returned(local);
    expect(await errorOf(local, { loop: true })).toEqual({
      errorType: 'Sandbox.Timedout',
      errorMessage: expect.stringMatching(/^RequestId: [0-9a-f-]{36} Error: Task timed out after 1\.00 seconds$/),
    });
    expect(await returned(local)).not.toBe(before);
  });

  it.each([
    ['exits', 'process.exit(3)', 'Runtime.ExitError', /Runtime exited with error: exit status 3$/],
    [
      'is killed',
      "process.kill(process.pid, 'SIGKILL')",
      'Runtime.ExitError',
      /Runtime exited with error: signal: SIGKILL$/,
    ],
    [
      'throws later',
      "setTimeout(() => { throw new TypeError('late'); }); await new Promise(() => {});",
      'TypeError',
      /^late$/,
    ],
    [
      'rejects later',
      "void Promise.reject(new TypeError('lost')); await new Promise(() => {});",
      'TypeError',
      /^lost$/,
    ],
  ])('reports the reason if an invocation %s, and runs the next one', async (name, code, errorType, errorMessage) => {
    const local = functionOf(
      name.replace(' ', '-'),
      `export const handler = async ({ bad }) => { if (bad) { ${code} } return 'well'; };`,
    );
    expect(await errorOf(local, { bad: true })).toEqual({
      errorType,
      errorMessage: expect.stringMatching(errorMessage),
    });
    expect(await returned(local)).toBe('well');
  });

  it('fails if it exceeds its memory limit', async () => {
    const local = functionOf(
      'hoarding',
      'const kept = []; export const handler = async () => { for (;;) kept.push(new Array(1e5).fill(1.5)); };',
      20,
    );
    expect(await errorOf(local)).toMatchObject({
      errorType: 'Runtime.ExitError',
      errorMessage: expect.stringMatching(/SIGABRT$|134$/),
    });
  });

  it.each([
    ['broken', "throw new SyntaxError('cannot start');", 'SyntaxError', 'cannot start'],
    ['empty', 'export const other = 1;', 'TypeError', 'empty.handler is undefined or not exported'],
  ])('fails every invocation with the reason if its module is %s', async (name, code, errorType, errorMessage) => {
    const local = functionOf(name, code);
    expect(await errorOf(local)).toEqual({ errorType, errorMessage });
    expect(await errorOf(local)).toEqual({ errorType, errorMessage });
  });
});

it('a function ends its processes when the run ends, and fails waiting invocations', async () => {
  const local = functionOf('ending', 'export const handler = async () => new Promise(() => {});', 5, 1);
  const both = [local.invoke('{}'), local.invoke('{}')];
  await wait(300);
  local.end();
  expect((await Promise.all(both)).map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
  expect(await errorOf(local)).toMatchObject({ errorType: 'Sandbox.Ended' });
});
