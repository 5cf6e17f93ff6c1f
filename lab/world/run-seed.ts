import { type FaultClass, faultTime } from './fault-classes.ts';
import { makeJudge } from './invariants/judge.ts';
import { makeWorld } from './make-world.ts';
import type { Compositions } from './stage.ts';
import { minute, second } from './times.ts';
import { figuresOf, isDeath, type WorldResult } from './world-result.ts';

/** Runs the world of a seed: a minute of events, three minutes of faults, then calm until work should be finished. */
export async function runSeed(
  seed: number,
  faultClass: FaultClass,
  compositions?: Partial<Compositions>,
  keepsDetails = true,
): Promise<WorldResult> {
  const usageBefore = process.threadCpuUsage();
  const world = makeWorld(seed, faultClass, compositions, { keepsDetails });
  try {
    const { cloud, receivers, publications } = world;
    const startedAt = await world.begin();
    const judge = makeJudge(world, startedAt);
    for (let age = 0; age < wholeTime; age += age < busyTime ? 10 * second : minute) {
      if (age === faultTime) cloud.endFaults();
      await cloud.run(startedAt + age);
      judge.look();
    }
    judge.judgeEnd();
    return {
      kind: 'delivery',
      seed,
      faultClass,
      ...figuresOf(cloud, usageBefore),
      asked: publications.length,
      done: receivers.count(),
      worstLateness: judge.worstLateness(),
      violations: judge.violations(),
      trace: deliveryId => {
        const publication = publications.find(each => each.deliveryId === deliveryId);
        const message = JSON.stringify(publication?.body ?? deliveryId).slice(1, -1);
        const isAbout = (text: string) => text.includes(deliveryId) || text.includes(message);
        return cloud.trace(happening => isAbout(happening.text) || isAbout(happening.detail) || isDeath(happening));
      },
    };
  } finally {
    world.end();
  }
}

/** During this time the judge runs every 10 seconds, and later every minute. */
const busyTime = 6 * minute;

/** Longer than the schedule, plus the time for a slow backlog. */
const wholeTime = 75 * minute;
