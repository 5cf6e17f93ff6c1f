import { markdownTable } from '../../../tools/support/markdown-table.ts';
import { runInThreads } from '../run-in-threads.ts';
import { largeReceiver, repeatedAfterColdStarts } from './healthy-receivers.ts';
import type { IsolationOptions } from './options.ts';
import { attackLength, situations, type Trial } from './plan.ts';
import type { IsolationRun } from './run-attack.ts';
import type { RunResult } from './run-tenants.ts';
import { exceededLimits, type Figure, figuresOf } from './verdict.ts';

/**
 * Runs the selected attacks and prints their effect on healthy accounts. If all attacks are selected, also prints how the
 * service treats harmless slow receivers. Returns whether all guarantees are met.
 */
export async function showIsolation(options: IsolationOptions): Promise<boolean> {
  const checks = [await showAttacks(options)];
  if (options.isWhole) checks.push(await showHealthyReceivers());
  const isMet = checks.every(each => each);
  console.log(isMet ? '\nAll guarantees are met.' : '\nA guarantee is violated.');
  return isMet;
}

async function showAttacks({ trials, seeds, isQuick }: IsolationOptions): Promise<boolean> {
  const { verdicts, cpu } = await measureTrials(trials, seeds);
  console.log(`During each attack, 20 healthy accounts publish 5 events a second for 180 s. Seeds: ${seeds.join(', ')}.
Each figure is the worst over all seeds. Waits are 99th percentiles in ms. The wait of the burst is the maximum in ms.\n`);
  const head = ['first, extra', 'retries, extra', '3-s receiver', 'slow lane in flight', 'DLQ', 'burst'];
  console.log(
    markdownTable(
      ['attack', 'situation', ...head],
      trials.map((trial, index) => [trial.attack, trial.situation.name, ...worstOf(verdicts[index] ?? [])]),
    ),
  );
  console.log(`\n${Math.round(cpu)} s of CPU time.`);
  const failures = trials.flatMap((trial, index) =>
    seeds.flatMap((seed, number) => {
      const bounds = exceededLimits(verdicts[index]?.[number] ?? []);
      return bounds.length === 0 ? [] : [{ trial, seed, bounds }];
    }),
  );
  for (const { trial, seed, bounds } of failures) {
    console.log(`\n${trial.attack}, ${trial.situation.name}, seed ${seed}: ${bounds.join('; ')}`);
    console.log(commandOf(trial, seed, isQuick));
  }
  return failures.length === 0;
}

/** Returns the maximum of each figure over all seeds. */
function worstOf(verdicts: readonly (readonly Figure[])[]): readonly string[] {
  const [first = []] = verdicts;
  return first.map((_, figure) => {
    const values = verdicts.map(verdict => verdict[figure]?.value ?? Number.NaN);
    return `${Math.round(Math.max(...values))}`;
  });
}

async function showHealthyReceivers(): Promise<boolean> {
  const figures: [receiver: string, figure: number, bound: number][] = [
    ['3 s responses, an event every 30 s, cold start: repeated POSTs', await repeatedAfterColdStarts(), 0],
  ];
  for (const situation of situations) {
    const { slowLanePosts, waiting } = await largeReceiver(situation);
    const name = `100/s, 0.1% over 2 s, ${situation.name}`;
    figures.push([`${name}: POSTs by the slow lane`, slowLanePosts, maxSlowLanePosts]);
    figures.push([`${name}: pending events 10 min after an outage of 60 s`, waiting, 0]);
  }
  console.log(
    `\n${markdownTable(
      ['receiver', 'figure', 'limit'],
      figures.map(row => row.map(String)),
    )}`,
  );
  return figures.every(([, figure, bound]) => figure <= bound);
}

/** Twice the number of slow responses in 10 minutes. If the webhook were slow for one minute, the slow lane would send 6,000 POSTs. */
const maxSlowLanePosts = 120;

/** Returns the figures of each trial, by seed. Healthy accounts run alone once for each situation and seed. */
async function measureTrials(trials: readonly Trial[], seeds: readonly number[]) {
  const runs = new Map<string, IsolationRun>();
  const runOf = ({ situation }: Trial, seed: number, attack?: string): string => {
    const key = `${situation.name}, ${seed}, ${attack ?? 'alone'}`;
    runs.set(key, { situation, seed, attack, length: attackLength });
    return key;
  };
  const keys = trials.map(trial =>
    seeds.map(seed => ({ trial, attacked: runOf(trial, seed, trial.attack), alone: runOf(trial, seed) })),
  );
  const module = new URL('./run-attack.ts', import.meta.url);
  const runResults = await runInThreads<IsolationRun, RunResult>(module, 'runAttack', [...runs.values()], done =>
    progress(`${done} of ${runs.size} runs`),
  );
  progress('');
  const results = new Map([...runs.keys()].map((key, index) => [key, runResults[index]]));
  const resultOf = (key: string): RunResult => {
    const result = results.get(key);
    if (!result) throw new Error(`The run "${key}" has no result.`);
    return result;
  };
  return {
    verdicts: keys.map(trialRuns =>
      trialRuns.map(({ trial, attacked, alone }) => figuresOf(trial, resultOf(attacked), resultOf(alone))),
    ),
    cpu: runResults.reduce((sum, { cpu }) => sum + cpu, 0),
  };
}

function commandOf({ attack, situation }: Trial, seed: number, isQuick: boolean): string {
  const quick = isQuick ? ' --quick' : '';
  return `npm run world -- --isolation --attack "${attack}" --situation "${situation.name}" --seed ${seed}${quick}`;
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\x1b[2K\r${text}`);
}
