import { processorTime } from '../support/function-processes.ts';
import { startLocalRun } from '../support/local-run.ts';
import { type Percentiles, percentilesOf } from '../support/statistics.ts';
import { makeCaller } from './caller.ts';

/** What one run of the whole service shows; times in milliseconds. */
export interface ServiceFigures {
  readonly readyMs: number;
  readonly coldLoginMs: number;
  readonly warmLoginMs: Percentiles;
  readonly warmRefreshMs: Percentiles;
  readonly cpuPerLogin: number;
  readonly cpuPerRefresh: number;
}

/** Runs the whole service and measures what a token costs it. */
export async function measureService(count: number): Promise<ServiceFigures> {
  const service = await startLocalRun();
  try {
    const { outputs, readyMs } = service;
    const caller = makeCaller(outputs);
    const coldLoginMs = await timed(caller.login);
    const logins = await series(count, /Token/, caller.login);
    let { refresh_token: refreshToken } = await caller.login();
    const refreshes = await series(count, /Token/, async () => {
      refreshToken = (await caller.refresh(refreshToken)).refresh_token;
    });
    return {
      readyMs,
      coldLoginMs,
      warmLoginMs: logins.times,
      warmRefreshMs: refreshes.times,
      cpuPerLogin: logins.cpuMs,
      cpuPerRefresh: refreshes.cpuMs,
    };
  } finally {
    await service.stop();
  }
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

/** Times and processor time of `count` calls one after the other. */
async function series(count: number, functionName: RegExp, action: () => Promise<unknown>) {
  const before = processorTime(functionName);
  const times: number[] = [];
  for (let call = 0; call < count; call++) times.push(await timed(action));
  return { times: percentilesOf(times), cpuMs: (processorTime(functionName) - before) / count };
}
