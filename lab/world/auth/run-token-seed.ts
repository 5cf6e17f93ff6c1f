import type { Happening } from '@emissor/cloud/virtual';
import { type FaultClass, faultTime } from '../fault-classes.ts';
import { minute } from '../times.ts';
import { figuresOf, isDeath, type WorldResult } from '../world-result.ts';
import { judgeTokens } from './invariants/judge-tokens.ts';
import { makeTokenWorld } from './make-token-world.ts';
import { letIn } from './people/everybody.ts';
import type { TokenCompositions } from './token-stage.ts';

/** Runs a world of tokens and checks its invariants. After three minutes with faults, a month follows with only a few logins. */
export async function runTokenSeed(
  seed: number,
  faultClass: FaultClass,
  compositions?: Partial<TokenCompositions>,
  keepsDetails = true,
): Promise<WorldResult> {
  const usageBefore = process.threadCpuUsage();
  const world = makeTokenWorld(seed, faultClass, compositions, keepsDetails);
  try {
    const { cloud, journal, scene } = world;
    const startedAt = await world.begin();
    letIn(world, startedAt);
    await cloud.run(startedAt + faultTime);
    cloud.endFaults();
    await cloud.run(startedAt + wholeTime);
    const [failure] = scene.failures();
    if (failure !== undefined) throw failure;
    const violations = judgeTokens(world, startedAt);
    return {
      kind: 'tokens',
      seed,
      faultClass,
      ...figuresOf(cloud, usageBefore),
      asked: journal.all().length,
      done: journal.all().filter(({ answer }) => answer?.status === 200).length,
      worstLateness: 0,
      violations,
      trace: about => traceOf(cloud.trace(), about),
    };
  } finally {
    world.end();
  }
}

/** The duration of a world. It exceeds the lifetime of an unused session. */
const wholeTime = 30 * 24 * 60 * minute;

/** Returns the trace entries that contain the id of a request or session, and the process's entries during the request. */
function traceOf(happenings: readonly Happening[], about: string): readonly Happening[] {
  const [name, isAbout] = [`${about}"`, (text: string) => text.includes(`${about}"`)];
  let worker: string | undefined;
  return happenings.filter(happening => {
    const { kind, text, detail } = happening;
    const [id = ''] = text.split(' ', 1);
    const isOwn = kind === 'invocation' && text.endsWith(' starts') && detail.includes(name);
    if (isOwn) worker = id;
    const isOfWorker = id === worker;
    if (isOfWorker && kind === 'invocation' && !isOwn) worker = undefined;
    return isOfWorker || isAbout(text) || isAbout(detail) || isDeath(happening);
  });
}
