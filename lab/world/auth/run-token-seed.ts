import type { RecordedEvent } from '@emissor/cloud/virtual';
import { type FaultClass, faultTime } from '../fault-classes.ts';
import { minute } from '../times.ts';
import { figuresOf, isCrash, type WorldResult } from '../world-result.ts';
import { checkTokenInvariants } from './invariants/check-token-invariants.ts';
import { makeTokenWorld } from './make-token-world.ts';
import { startUsers } from './people/start-users.ts';
import type { TokenCompositions } from './token-stage.ts';

/** Runs a token world and checks its invariants. After 3 minutes with faults, the world runs for 30 days with only a few logins. */
export async function runTokenSeed(
  seed: number,
  faultClass: FaultClass,
  compositions?: Partial<TokenCompositions>,
  keepsDetails = true,
): Promise<WorldResult> {
  const usageBefore = process.threadCpuUsage();
  const world = makeTokenWorld(seed, faultClass, compositions, keepsDetails);
  try {
    const { cloud, journal, actions } = world;
    const startedAt = await world.start();
    startUsers(world, startedAt);
    await cloud.run(startedAt + faultTime);
    cloud.endFaults();
    await cloud.run(startedAt + worldTime);
    const [failure] = actions.failures();
    if (failure !== undefined) throw failure;
    const violations = checkTokenInvariants(world, startedAt);
    return {
      kind: 'tokens',
      seed,
      faultClass,
      ...figuresOf(cloud, usageBefore),
      requestCount: journal.all().length,
      successCount: journal.all().filter(({ response }) => response?.status === 200).length,
      maxOverdueMs: 0,
      violations,
      trace: subjectId => traceOf(cloud.trace(), subjectId),
    };
  } finally {
    world.end();
  }
}

/** The duration of a world. It exceeds the lifetime of an unused session. */
const worldTime = 30 * 24 * 60 * minute;

/** Returns the trace entries that contain the id of a request or session, and the entries of the request's process during the request. */
function traceOf(entries: readonly RecordedEvent[], subjectId: string): readonly RecordedEvent[] {
  const [name, isAbout] = [`${subjectId}"`, (text: string) => text.includes(`${subjectId}"`)];
  let worker: string | undefined;
  return entries.filter(entry => {
    const { kind, text, detail } = entry;
    const [id = ''] = text.split(' ', 1);
    const isOwn = kind === 'invocation' && text.endsWith(' starts') && detail.includes(name);
    if (isOwn) worker = id;
    const isOfWorker = id === worker;
    if (isOfWorker && kind === 'invocation' && !isOwn) worker = undefined;
    return isOfWorker || isAbout(text) || isAbout(detail) || isCrash(entry);
  });
}
