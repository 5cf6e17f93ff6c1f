import { type FaultClass, faultTime } from './fault-classes.ts';
import { makeInvariantChecks } from './invariants/check-invariants.ts';
import { makeWorld } from './make-world.ts';
import type { Compositions } from './stage.ts';
import { minute, second } from './times.ts';
import { figuresOf, isCrash, type WorldResult } from './world-result.ts';

/** Runs a delivery world and checks its invariants. Faults end after 3 minutes, and the world ends after 75 minutes. */
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
    const startedAt = await world.start();
    const checks = makeInvariantChecks(world, startedAt);
    for (let age = 0; age < worldTime; age += age < frequentCheckTime ? 10 * second : minute) {
      if (age === faultTime) cloud.endFaults();
      await cloud.run(startedAt + age);
      checks.checkDuringRun();
    }
    checks.checkAtEnd();
    return {
      kind: 'delivery',
      seed,
      faultClass,
      ...figuresOf(cloud, usageBefore),
      requestCount: publications.length,
      successCount: receivers.count(),
      maxOverdueMs: checks.maxOverdueMs(),
      violations: checks.violations(),
      trace: deliveryId => {
        const publication = publications.find(each => each.deliveryId === deliveryId);
        const message = JSON.stringify(publication?.body ?? deliveryId).slice(1, -1);
        const isAbout = (text: string) => text.includes(deliveryId) || text.includes(message);
        return cloud.trace(entry => isAbout(entry.text) || isAbout(entry.detail) || isCrash(entry));
      },
    };
  } finally {
    world.end();
  }
}

/** The time during which the world checks invariants every 10 s instead of every minute. */
const frequentCheckTime = 6 * minute;

/** The duration of a world. It exceeds the longest retry schedule plus the time that the slow lane needs for a backlog. */
const worldTime = 75 * minute;
