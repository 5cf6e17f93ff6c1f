import { type FaultClass, faultTime } from './fault-classes.ts';
import { makeJudge } from './invariants/judge.ts';
import { makeWorld } from './make-world.ts';
import type { Compositions } from './stage.ts';
import { minute, second } from './times.ts';
import { figuresOf, isDeath, type WorldResult } from './world-result.ts';

/** Runs a world of delivery and checks its invariants. Faults end after three minutes, and the world after 75 minutes. */
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

/** The time during which invariants are checked every 10 s. Afterwards, they are checked every minute. */
const busyTime = 6 * minute;

/** The duration of a world. It exceeds the retry schedules plus the time of a slow backlog. */
const wholeTime = 75 * minute;
