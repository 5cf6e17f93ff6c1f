import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultKind } from '../../local/fault-injection.ts';
import { functionProcesses } from '../support/function-processes.ts';
import type { LocalRun } from '../support/local-run.ts';
import { pick, type Random } from '../support/random.ts';

/** How a run is troubled. Milliseconds. */
export interface StormPlan {
  /** Between two kills. */
  readonly killEvery: number;
  /** So many are killed, even if it takes longer than the storm lasts: processes that are still starting are spared. */
  readonly leastKills: number;
  /** These strike at least once, even if it takes longer. */
  readonly mustStrike: readonly FaultKind[];
  /** Functions whose processes are killed. */
  readonly victims: RegExp;
  /** Always. */
  readonly background: Shares;
  /** For the first part of each period. */
  readonly gusts: Shares;
  readonly gustLength: number;
  readonly gustPeriod: number;
  /** When all else is over, until each of these has struck. */
  readonly aftermath: Shares;
}

/** How often each fault was injected. */
export interface Damage {
  readonly kills: number;
  /** Of those, processes that were serving an invocation. */
  readonly killsAtWork: number;
  /** Attempts that were not made because KMS failed. */
  readonly keptByKms: number;
  /** Attempts that were left to the slow lane. */
  readonly movedToSlowLane: number;
  readonly strikes: Readonly<Record<string, number>>;
}

/** Writes the faults of a run, in one piece. */
export function writeFaults(file: string, shares: Shares): void {
  writeFileSync(`${file}.new`, JSON.stringify(shares));
  renameSync(`${file}.new`, file);
}

/**
 * Troubles a run until the signal aborts and all that must happen has; then only the aftermath goes on, for `hasStruck`
 * to watch.
 *
 * @param isAtWork - whether the consumers have begun: before that nobody is killed.
 * @returns the number of processes killed.
 */
export async function rage(
  run: LocalRun,
  faultsFile: string,
  plan: StormPlan,
  random: Random,
  isAtWork: () => boolean,
  signal: AbortSignal,
): Promise<number> {
  let kills = 0;
  let overAt = Number.POSITIVE_INFINITY;
  signal.addEventListener('abort', () => {
    overAt = Date.now();
  });
  const isOver = () => signal.aborted;
  const isDone = () => kills >= plan.leastKills && hasStruck(run, plan.mustStrike);
  const isEnough = () => isOver() && (isDone() || Date.now() - overAt > longestOvertime);
  const every = async (milliseconds: () => number, act: () => void, ends: () => boolean) => {
    while (!ends()) {
      act();
      const left = milliseconds();
      await (ends === isOver ? pause(left, undefined, { signal }).catch(() => undefined) : pause(left));
    }
  };
  let isGust = false;
  const weather = every(
    () => (isGust ? plan.gustLength : plan.gustPeriod - plan.gustLength),
    () => {
      isGust = !isGust;
      writeFaults(faultsFile, isGust ? { ...plan.background, ...plan.gusts } : plan.background);
    },
    isOver,
  );
  const killing = every(
    () => plan.killEvery * (0.5 + random()),
    () => {
      const victims = functionProcesses(run.processId, plan.victims);
      if (victims.length === 0 || !isAtWork()) return;
      try {
        process.kill(pick(victims, random), 'SIGKILL');
        kills += 1;
      } catch {
        // it ended by itself
      }
    },
    isEnough,
  );
  await Promise.all([weather, killing]);
  writeFaults(faultsFile, plan.aftermath);
  return kills;
}

/** What the run itself says was done to it. */
export function damageIn({ logFile }: LocalRun, kills: number, kinds: readonly FaultKind[]): Damage {
  const log = readFileSync(logFile, 'utf8');
  return {
    kills,
    killsAtWork: countIn(log, /RequestId: [0-9a-f-]{36} Error: Runtime exited with error: signal: SIGKILL/g),
    movedToSlowLane: countIn(log, /delivery\.moved .*\blane=slow\b/g),
    keptByKms: countIn(log, / detail=(?:ThrottlingException|KMSInternalException)\b/g),
    strikes: Object.fromEntries(kinds.map(kind => [kind, countIn(log, new RegExp(` ${kind}, as `, 'g'))])),
  };
}

/** Whether each of these faults has been injected. */
export function hasStruck(run: LocalRun, kinds: readonly FaultKind[]): boolean {
  return Object.values(damageIn(run, 0, kinds).strikes).every(count => count > 0);
}

/** Shares of what goes wrong. */
type Shares = Partial<Record<FaultKind, number>>;

/** The longest that the last kills and faults are waited for, in milliseconds. */
const longestOvertime = 60_000;

function countIn(log: string, pattern: RegExp): number {
  return [...log.matchAll(pattern)].length;
}
