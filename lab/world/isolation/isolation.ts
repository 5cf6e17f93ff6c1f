import { markdownTable } from '../../../tools/support/markdown-table.ts';
import { runInThreads } from '../run-in-threads.ts';
import { largeReceiver, repeatedAfterColdStarts } from './innocent-receivers.ts';
import type { IsolationOptions } from './options.ts';
import { attackLength, situations, type Trial } from './plan.ts';
import type { IsolationRun } from './run-attack.ts';
import type { RunResult } from './run-tenants.ts';
import { brokenOf, type Figure, figuresOf } from './verdict.ts';

/**
 * Runs the selected attacks and prints their effect on innocents. With all attacks, also prints the effect on receivers
 * that are slow without attacking. Returns whether every guarantee is met.
 */
export async function showIsolation(options: IsolationOptions): Promise<boolean> {
  const kept = [await showAttacks(options)];
  if (options.isWhole) kept.push(await showInnocentReceivers());
  const isKept = kept.every(each => each);
  console.log(isKept ? '\nEvery promise is kept.' : '\nA promise is broken.');
  return isKept;
}

async function showAttacks({ trials, seeds, isQuick }: IsolationOptions): Promise<boolean> {
  const { verdicts, cpu } = await judgeAll(trials, seeds);
  console.log(`20 accounts with 5 events a second next to each attack; seeds ${seeds.join(', ')}, the worst of them.
Waits at the 99th percentile over 180 s, in ms; the maximum for the burst to a healthy receiver.\n`);
  const head = ['first, extra', 'retries, extra', '3-s receiver', 'slow lane in flight', 'DLQ', 'burst'];
  console.log(
    markdownTable(
      ['attack', 'situation', ...head],
      trials.map((trial, index) => [trial.attack, trial.situation.name, ...worstOf(verdicts[index] ?? [])]),
    ),
  );
  console.log(`\n${Math.round(cpu)} s of CPU time.`);
  const broken = trials.flatMap((trial, index) =>
    seeds.flatMap((seed, number) => {
      const bounds = brokenOf(verdicts[index]?.[number] ?? []);
      return bounds.length === 0 ? [] : [{ trial, seed, bounds }];
    }),
  );
  for (const { trial, seed, bounds } of broken) {
    console.log(`\n${trial.attack}, ${trial.situation.name}, seed ${seed}: ${bounds.join('; ')}`);
    console.log(commandOf(trial, seed, isQuick));
  }
  return broken.length === 0;
}

/** Returns the largest of each figure over all seeds. */
function worstOf(verdicts: readonly (readonly Figure[])[]): readonly string[] {
  const [first = []] = verdicts;
  return first.map((_, figure) => {
    const values = verdicts.map(verdict => verdict[figure]?.value ?? Number.NaN);
    return `${Math.round(Math.max(...values))}`;
  });
}

async function showInnocentReceivers(): Promise<boolean> {
  const figures: [receiver: string, figure: number, bound: number][] = [
    ['3 s after a cold start, once in 30 s: events sent twice', await repeatedAfterColdStarts(), 0],
  ];
  for (const situation of situations) {
    const { slowLanePosts, waiting } = await largeReceiver(situation);
    figures.push([`100/s, 0.1 % over 2 s, ${situation.name}: POSTs of the slow lane`, slowLanePosts, maxGivenUp]);
    figures.push([`the same 10 min after an outage of 60 s, ${situation.name}: events that wait`, waiting, 0]);
  }
  console.log(
    `\n${markdownTable(
      ['receiver', 'figure', 'promised'],
      figures.map(row => row.map(String)),
    )}`,
  );
  return figures.every(([, figure, bound]) => figure <= bound);
}

/** Twice the slow responses in ten minutes, which a busy lane skips. A minute of slowness would cause 6,000. */
const maxGivenUp = 120;

/** Returns the verdicts of each trial, by seed. Innocents run alone once for each situation and seed. */
async function judgeAll(trials: readonly Trial[], seeds: readonly number[]) {
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
      ofTrial.map(({ trial, attacked, alone }) => figuresOf(trial, resultOf(attacked), resultOf(alone))),
    ),
    cpu: made.reduce((sum, { cpu }) => sum + cpu, 0),
  };
}

function commandOf({ attack, situation }: Trial, seed: number, isQuick: boolean): string {
  const quick = isQuick ? ' --quick' : '';
  return `npm run world -- --isolation --attack "${attack}" --situation "${situation.name}" --seed ${seed}${quick}`;
}

function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\x1b[2K\r${what}`);
}
