import { describe, expect, it, vi } from 'vitest';
import { awaitPermissions } from '../../../../lambdas/auth/keys/settling-permissions.ts';
import type { Log } from '../../../../lambdas/platform/telemetry.ts';
import { frozenClock } from '../../../support/clock.ts';

const refusal = () => Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });

/** Runs a task whose first calls end with these errors; time passes only while it waits. */
const run = async (errors: (call: number) => Error | undefined) => {
  const clock = frozenClock();
  const start = clock.now();
  let calls = 0;
  const lines: string[] = [];
  const log: Log = { info: vi.fn(), error: vi.fn(), warn: (...[name]) => void lines.push(String(name)) };
  const pause = async (milliseconds: number) => clock.advance(milliseconds);
  const task = async () => {
    calls += 1;
    const error = errors(calls);
    if (error) throw error;
    return 'done';
  };
  const result = await awaitPermissions(task, { now: clock.now, pause, log }).catch((error: Error) => error.name);
  return { result, calls, seconds: (clock.now() - start) / 1_000, lines };
};

describe('a task that needs new permissions', () => {
  it('runs once where it has them', async () => {
    expect(await run(() => undefined)).toEqual({ result: 'done', calls: 1, seconds: 0, lines: [] });
  });

  it('is repeated while IAM refuses it, and says so', async () => {
    const lines = ['keys.refused', 'keys.refused', 'keys.refused'];
    expect(await run(call => (call < 4 ? refusal() : undefined))).toEqual({
      result: 'done',
      calls: 4,
      seconds: 7,
      lines,
    });
  });

  it('fails with the refusal when that lasts, well before its function times out', async () => {
    expect(await run(refusal)).toMatchObject({ result: 'AccessDeniedException', calls: 6, seconds: 31 });
  });

  it('is not repeated for any other error', async () => {
    expect(await run(() => new TypeError('bug'))).toMatchObject({ result: 'TypeError', calls: 1 });
  });
});
