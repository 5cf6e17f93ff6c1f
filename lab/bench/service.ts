import { processorTime } from '../../tools/support/function-processes.ts';
import { demoOf, startLocalRun } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { type Percentiles, percentilesOf } from '../../tools/support/statistics.ts';

/** The times of logins and refreshes in one local run, in milliseconds. */
export interface ServiceResult {
  readonly readyMs: number;
  readonly coldLoginMs: number;
  readonly warmLoginMs: Percentiles;
  readonly warmRefreshMs: Percentiles;
  readonly cpuPerLogin: number;
  /** The CPU time per login without the thread pool of libuv, which computes the hash. */
  readonly cpuPerLoginWithoutHash: number;
  readonly cpuPerRefresh: number;
}

/** Starts a local run and measures `count` logins and `count` refreshes. */
export async function measureService(count: number): Promise<ServiceResult> {
  const service = await startLocalRun();
  try {
    const { outputs, readyMs } = service;
    const { getTokens } = makeServiceClient(outputs);
    const { client, user } = demoOf(outputs);
    const logIn = () => getTokens(passwordGrant(client, user));
    const coldLoginMs = await timeOf(logIn);
    const logins = await measureSeries(count, /Token/, logIn);
    let { refresh_token: refreshToken } = await logIn();
    const refreshes = await measureSeries(count, /Token/, async () => {
      refreshToken = (await getTokens(refreshGrant(client, refreshToken))).refresh_token;
    });
    return {
      readyMs,
      coldLoginMs,
      warmLoginMs: logins.times,
      warmRefreshMs: refreshes.times,
      cpuPerLogin: logins.cpuMs,
      cpuPerLoginWithoutHash: logins.cpuMs - logins.poolCpuMs,
      cpuPerRefresh: refreshes.cpuMs,
    };
  } finally {
    await service.stop();
  }
}

async function timeOf(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

/** Measures the latency and the CPU times of `count` sequential calls. */
async function measureSeries(count: number, functionName: RegExp, action: () => Promise<unknown>) {
  const [before, poolBefore] = [processorTime(functionName), processorTime(functionName, poolThread)];
  const times: number[] = [];
  for (let call = 0; call < count; call++) times.push(await timeOf(action));
  const cpuMs = (processorTime(functionName) - before) / count;
  return {
    times: percentilesOf(times),
    cpuMs,
    poolCpuMs: (processorTime(functionName, poolThread) - poolBefore) / count,
  };
}

/** The name that libuv gives the threads of its pool. */
const poolThread = 'libuv-worker';
