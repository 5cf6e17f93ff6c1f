import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultKind } from '@emissor/local-cloud/faults';
import { functionProcesses } from '../../tools/support/function-processes.ts';
import type { LocalRun } from '../../tools/support/local-run.ts';
import { pick } from '../../tools/support/random.ts';

/** The faults to inject into a run. */
export interface FaultPlan {
  /** Milliseconds between two kills, in the mean. With each, the next phase begins. */
  readonly killEvery: number;
  /** The least number of processes killed, even after publishing has ended: those that are still starting are spared. */
  readonly leastKills: number;
  /** Functions whose processes are killed. */
  readonly killTargets: RegExp;
  /** The shares of requests that fail, by kind of fault, in turn. */
  readonly phases: readonly Partial<Record<FaultKind, number>>[];
}

/** The number of times that each fault was injected. */
export interface InjectedFaults {
  readonly kills: number;
  /** Of those, processes that were serving an invocation. */
  readonly killsAtWork: number;
  readonly counts: Readonly<Partial<Record<FaultKind, number>>>;
}

/**
 * Injects faults into a run until publishing is over and all that the plan has happened.
 *
 * @param isAtWork - whether the consumers have begun: before that no process is killed.
 */
export async function injectFaults(
  run: LocalRun,
  faultsFile: string,
  plan: FaultPlan,
  isAtWork: () => boolean,
  isOver: () => boolean,
): Promise<InjectedFaults> {
  let kills = 0;
  let overAt = Number.POSITIVE_INFINITY;
  for (let step = 0; ; step += 1) {
    writeFileSync(faultsFile, JSON.stringify(plan.phases[step % plan.phases.length]));
    await pause(plan.killEvery * (0.5 + Math.random()));
    if (isAtWork() && killOne(run, plan.killTargets)) kills += 1;
    if (!isOver()) continue;
    overAt = Math.min(overAt, Date.now());
    const injected = injectedIn(run, plan, kills);
    if (missingOf(plan, injected).length > 0 && Date.now() - overAt < longestExtension) continue;
    writeFileSync(faultsFile, '{}');
    return injected;
  }
}

/** Returns what a plan has and was not injected. */
export function missingOf({ leastKills }: FaultPlan, { kills, counts }: InjectedFaults): readonly string[] {
  const missing = Object.entries(counts).flatMap(([kind, count]) => (count === 0 ? [`no ${kind} happened`] : []));
  return kills < leastKills ? [...missing, `${kills} processes were killed, not ${leastKills}`] : missing;
}

/** The longest wait for the last kills and faults, in milliseconds. */
const longestExtension = 60_000;

/** Returns whether there was a process to kill. */
function killOne({ processId }: LocalRun, targets: RegExp): boolean {
  const candidates = functionProcesses(processId, targets);
  if (candidates.length === 0) return false;
  try {
    return process.kill(pick(candidates, Math.random), 'SIGKILL');
  } catch {
    return false; // it ended by itself
  }
}

/** Counts the faults in the run's own log. */
function injectedIn({ logFile }: LocalRun, { phases }: FaultPlan, kills: number): InjectedFaults {
  const log = readFileSync(logFile, 'utf8');
  const count = (pattern: RegExp) => [...log.matchAll(pattern)].length;
  const kinds = new Set(phases.flatMap(phase => Object.keys(phase)));
  return {
    kills,
    killsAtWork: count(/RequestId: [0-9a-f-]{36} Error: Runtime exited with error: signal: SIGKILL/g),
    counts: Object.fromEntries([...kinds].map(kind => [kind, count(new RegExp(` ${kind}, as `, 'g'))])),
  };
}
