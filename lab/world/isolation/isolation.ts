import { markdownTable } from '../../../tools/support/markdown-table.ts';
import { runInThreads } from '../run-in-threads.ts';
import { attackOf } from './attacks.ts';
import { type ExtraWaits, worstOf } from './extra-waits.ts';
import { repeatedAfterColdStarts, waitingAfterOutage } from './innocent-receivers.ts';
import type { IsolationOptions } from './options.ts';
import { attackLength, type Trial } from './plan.ts';
import type { IsolationRun } from './run-attack.ts';
import type { RunResult } from './run-tenants.ts';
import { judge, promisedBeside, type Verdict } from './verdict.ts';

/**
 * Runs the attacks that the options name, and shows what they cost innocents; with all attacks also what becomes of receivers that are
 * slow through no fault of theirs. Returns whether every promise is kept.
 */
export async function showIsolation(options: IsolationOptions): Promise<boolean> {
  const kept = [await showAttacks(options)];
  if (options.isWhole) kept.push(await showInnocentReceivers());
  const isKept = kept.every(each => each);
  console.log(isKept ? '\nEvery promise is kept.' : '\nA promise is broken.');
  return isKept;
}

async function showAttacks(options: IsolationOptions): Promise<boolean> {
  const { trials } = options;
  const { verdicts, cpu } = await judgeAll(trials, options.seeds);
  console.log(`How much later first attempts of innocents come beside an attack, in ms:
  99th percentile of 180 s / of the worst 10 s / one in a thousand (the same of their retries).
20 accounts with 5 events a second; ${options.seeds.length === 1 ? `seed ${options.seeds[0]}` : `worst of seeds ${options.seeds.join(', ')}`}.\n`);
  console.log(
    markdownTable(
      ['attack', 'situation', 'later by', 'promised', 'slow lane: most at once, over 66 for, 3-s receiver late by'],
      trials.map((trial, index) => rowOf(trial, verdicts[index] ?? [])),
    ),
  );
  console.log(`\n${Math.round(cpu)} s of processor time.`);
  const broken = trials.flatMap((trial, index) =>
    (verdicts[index] ?? []).flatMap((verdict, number) =>
      verdict.broken.length === 0 ? [] : [{ trial, seed: options.seeds[number] ?? 0, verdict }],
    ),
  );
  for (const { trial, seed, verdict } of broken) {
    console.log(`\n${trial.attack}, ${trial.situation.name}, seed ${seed}: ${verdict.broken.join('; ')}`);
    console.log(commandOf(trial, seed, options));
  }
  return broken.length === 0;
}

async function showInnocentReceivers(): Promise<boolean> {
  const [repeated, waiting] = [await repeatedAfterColdStarts(), await waitingAfterOutage(100)];
  const rows = [
    ['3 s after a cold start, once in 30 s: events sent twice', `${repeated}`, '0'],
    ['100 events a second, ten minutes after it hung for a minute: events that wait', `${waiting}`, '0'],
  ];
  console.log(`\n${markdownTable(['receiver', 'figure', 'promised'], rows)}`);
  return repeated === 0 && waiting === 0;
}

/** Returns the verdicts of each trial, by seed. Innocents alone are run once for each situation and seed. */
async function judgeAll(trials: readonly Trial[], seeds: readonly number[]) {
  const runs = new Map<string, IsolationRun>();
  const runOf = ({ situation }: Trial, seed: number, attack?: string): string => {
    const key = `${situation.name}, ${seed}, ${attack ?? 'alone'}`;
    const length = (attack === undefined ? undefined : attackOf(attack).length) ?? attackLength;
    runs.set(key, { situation, seed, attack, length });
    return key;
  };
  const keys = trials.map(trial =>
    seeds.map(seed => ({ trial, beside: runOf(trial, seed, trial.attack), alone: runOf(trial, seed) })),
  );
  const module = new URL('./run-attack.ts', import.meta.url);
  const made = await runInThreads<IsolationRun, RunResult>(module, 'runAttack', [...runs.values()], done =>
    progress(`${done} of ${runs.size} runs`),
  );
  progress('');
  const results = new Map([...runs.keys()].map((key, index) => [key, made[index]]));
  const resultOf = (key: string): RunResult => {
    const found = results.get(key);
    if (!found) throw new Error(`A run is missing: ${key}.`);
    return found;
  };
  return {
    verdicts: keys.map(ofTrial =>
      ofTrial.map(({ trial, beside, alone }) => judge(trial, resultOf(beside), resultOf(alone))),
    ),
    cpu: made.reduce((sum, { cpu }) => sum + cpu, 0),
  };
}

function rowOf(trial: Trial, verdicts: readonly Verdict[]): string[] {
  const first = verdicts.map(verdict => verdict.first).reduce(worstOf);
  const retries = verdicts.map(verdict => verdict.retries).reduce(worstOf);
  const isKept = verdicts.every(({ broken }) => broken.length === 0);
  return [
    trial.attack,
    trial.situation.name,
    `${showExtra(first)} (${showExtra(retries)})`,
    `${showExtra(promisedBeside(trial))}${isKept ? '' : ' BROKEN'}`,
    showSlowLaneFigures(verdicts),
  ];
}

function showExtra(extra: ExtraWaits): string {
  return [extra.p99, extra.inWindow, extra.p999]
    .filter(Number.isFinite)
    .map(value => Math.round(value))
    .join(' / ');
}

function showSlowLaneFigures(verdicts: readonly Verdict[]): string {
  const most = (figure: keyof Verdict['slowLane']) => Math.max(...verdicts.map(({ slowLane }) => slowLane[figure]));
  const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${most('mostUnderWay')}, ${seconds(most('manyUnderWayFor'))}, ${seconds(most('bystanderLongest'))}`;
}

function commandOf({ attack, situation }: Trial, seed: number, { isQuick }: IsolationOptions): string {
  const quick = isQuick ? ' --quick' : '';
  const order = situation.isFair ? 'fair' : 'arrival';
  return `npm run world -- --isolation --attack "${attack}" --order ${order} --seed ${seed}${quick}`;
}

function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\x1b[2K\r${what}`);
}
