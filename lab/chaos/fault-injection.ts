import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultKind } from '@emissor/local-cloud/fault-injection';
import { functionProcesses } from '../../tools/support/function-processes.ts';
import type { LocalRun } from '../../tools/support/local-run.ts';
import { pick, type Random } from '../../tools/support/random.ts';

/** The faults to inject into a run. Times in milliseconds. */
export interface FaultPlan {
  /** Between two kills. */
  readonly killEvery: number;
  /** The least number of processes killed, even after publishing has ended: those that are still starting are spared. */
  readonly leastKills: number;
  /** Each of these is injected at least once, even after publishing has ended. */
  readonly required: readonly FaultKind[];
  /** Functions whose processes are killed. */
  readonly killTargets: RegExp;
  /** Always. */
  readonly background: FaultShares;
  /** In addition, in the first part of each period. */
  readonly bursts: FaultShares;
  readonly burstLength: number;
  readonly burstPeriod: number;
  /** The faults that are injected when everything else is over, until each was. */
  readonly afterwards: FaultShares;
}

/** The shares of requests that fail, by kind of fault. */
export type FaultShares = Partial<Record<FaultKind, number>>;

/** The number of times that each fault was injected, and its effect on attempts. */
export interface InjectedFaults {
  readonly kills: number;
  /** Of those, processes that were serving an invocation. */
  readonly killsAtWork: number;
  /** Attempts that were not made because KMS failed. */
  readonly keptByKms: number;
  /** Attempts that were left to the slow lane. */
  readonly movedToSlowLane: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Writes the faults of a run, in one piece. */
export function writeFaults(file: string, shares: FaultShares): void {
  writeFileSync(`${file}.new`, JSON.stringify(shares));
  renameSync(`${file}.new`, file);
}

/**
 * Injects faults into a run until the signal aborts and everything that the plan requires has happened. Then only the
 * faults of `afterwards` go on; `wereInjected` tells when they may end.
 *
 * @param isAtWork - whether the consumers have begun: before that no process is killed.
 * @returns the number of processes killed.
 */
export async function injectFaults(
  run: LocalRun,
  faultsFile: string,
  plan: FaultPlan,
  random: Random,
  isAtWork: () => boolean,
  signal: AbortSignal,
): Promise<number> {
  let kills = 0;
  let abortedAt = Number.POSITIVE_INFINITY;
  signal.addEventListener('abort', () => {
    abortedAt = Date.now();
  });
  await Promise.all([alternateBursts(), killProcesses()]);
  writeFaults(faultsFile, plan.afterwards);
  return kills;

  async function alternateBursts(): Promise<void> {
    for (let isBurst = true; !signal.aborted; isBurst = !isBurst) {
      writeFaults(faultsFile, isBurst ? { ...plan.background, ...plan.bursts } : plan.background);
      const length = isBurst ? plan.burstLength : plan.burstPeriod - plan.burstLength;
      await pause(length, undefined, { signal }).catch(() => undefined);
    }
  }

  async function killProcesses(): Promise<void> {
    while (!isEnough()) {
      killOne();
      await pause(plan.killEvery * (0.5 + random()));
    }
  }

  function isEnough(): boolean {
    if (!signal.aborted) return false;
    const isComplete = kills >= plan.leastKills && wereInjected(run, plan.required);
    return isComplete || Date.now() - abortedAt > longestExtension;
  }

  function killOne(): void {
    const candidates = functionProcesses(run.processId, plan.killTargets);
    if (candidates.length === 0 || !isAtWork()) return;
    try {
      process.kill(pick(candidates, random), 'SIGKILL');
      kills += 1;
    } catch {
      // it ended by itself
    }
  }
}

/** Counts the faults in the run's own log. */
export function injectedIn({ logFile }: LocalRun, kills: number, kinds: readonly FaultKind[]): InjectedFaults {
  const log = readFileSync(logFile, 'utf8');
  return {
    kills,
    killsAtWork: countIn(log, /RequestId: [0-9a-f-]{36} Error: Runtime exited with error: signal: SIGKILL/g),
    movedToSlowLane: countIn(log, /delivery\.moved .*\blane=slow\b/g),
    keptByKms: countIn(log, / detail=(?:ThrottlingException|KMSInternalException)\b/g),
    counts: Object.fromEntries(kinds.map(kind => [kind, countIn(log, new RegExp(` ${kind}, as `, 'g'))])),
  };
}

/** Returns whether each of these faults was injected. */
export function wereInjected(run: LocalRun, kinds: readonly FaultKind[]): boolean {
  return Object.values(injectedIn(run, 0, kinds).counts).every(count => count > 0);
}

/** The longest wait for the last kills and faults, in milliseconds. */
const longestExtension = 60_000;

function countIn(log: string, pattern: RegExp): number {
  return [...log.matchAll(pattern)].length;
}
