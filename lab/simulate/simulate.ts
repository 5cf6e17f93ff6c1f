import { markdownTable } from '../../tools/support/markdown-table.ts';
import { bounds, boundsWhenProvisioned, brokenBounds } from './bounds.ts';
import type { ExtraWaits } from './extra-waits.ts';
import { showHealthyReceivers, showSlowLane } from './innocents.ts';
import { grownPlaces, type Measured, type MeasureJob, provisionedPlaces, worstMeasured } from './measure.ts';
import { readOptions, type SimulateOptions, usage } from './options.ts';
import { presentSettings } from './quick-lanes.ts';
import { runInThreads } from './run-in-threads.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import type { ServicePlan } from './service-plan.ts';

/*
 * `npm run simulate`: simulates isolation between webhooks in virtual time, with the functions that decide it in delivery,
 * and compares the waits of others with what is promised (`bounds.ts`). Ends with 1 if a bound is exceeded; see `options.ts`.
 */

/** The age of the queue's count of messages, at most. */
const countLag = 2_000;

/** Three minutes of attack. */
const attackLength = 180_000;

/** An attack begins on an idle service, and after a minute of ordinary load. */
const starts = [0, 60_000];

const options = readOrExit();
if (options.help) console.log(usage);
else process.exitCode = (await main()) ? 0 : 1;

function readOrExit(): SimulateOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

/** Runs the scenarios that the options name. Returns whether every promise is kept. */
async function main(): Promise<boolean> {
  const chosen = scenarios.filter(({ name }) => name.includes(options.only));
  if (chosen.length === 0) {
    console.error(`No attack is called "${options.only}". They are:\n${scenarios.map(({ name }) => name).join('\n')}`);
    return false;
  }
  const kept = [
    await showQuickLanes(chosen),
    await showProvisioned(chosen.filter(attack => attack.isPromisedWhenProvisioned)),
  ];
  if (options.only === '') kept.push(await showSlowLane(options.hours), showHealthyReceivers());
  const isKept = kept.every(each => each);
  console.log(isKept ? '\nEvery promise is kept.' : '\nA promise is missed.');
  return isKept;
}

function showQuickLanes(chosen: readonly Scenario[]): Promise<boolean> {
  console.log(`Quick lanes: how much later healthy first attempts come beside an attack, in ms:
  99th percentile of 180 s / of the worst 10 s / one in a thousand (the same of healthy retries).
20 accounts with 5 events a second; worst of ${options.seeds} seeds, on an idle service and under steady load.\n`);
  const situations = [true, false].flatMap(isFair =>
    (['waiting', 'always'] as const).map(giveUp => ({
      head: `${isFair ? 'fair' : 'in order'}, give up ${giveUp}`,
      plan: planOf({ isFair, giveUp, places: placesOf(grownPlaces) }),
    })),
  );
  return showAttacks(chosen, situations, bounds);
}

async function showProvisioned(chosen: readonly Scenario[]): Promise<boolean> {
  if (chosen.length === 0) return true;
  console.log('\nThe same with two provisioned pollers for each lane:\n');
  const situations = [true, false].map(isFair => ({
    head: isFair ? 'fair' : 'in order',
    plan: planOf({ isFair, giveUp: 'waiting', places: placesOf(provisionedPlaces) }),
  }));
  return showAttacks(chosen, situations, boundsWhenProvisioned);
}

function placesOf(kind: typeof grownPlaces): ServicePlan['places'] {
  return { first: kind(50), retry: kind(20) };
}

function planOf(situation: Pick<ServicePlan, 'isFair' | 'giveUp' | 'places'>): ServicePlan {
  return { ...presentSettings, ...situation, countLag };
}

async function showAttacks(
  chosen: readonly Scenario[],
  situations: readonly { readonly head: string; readonly plan: ServicePlan }[],
  promises: Record<'besideOne' | 'besideMany', ExtraWaits>,
): Promise<boolean> {
  const measured = await measureAll(
    chosen,
    situations.map(({ plan }) => plan),
  );
  let isKept = true;
  const rows = chosen.map(({ name, accounts }, index) => {
    const promised = promises[accounts === 1 ? 'besideOne' : 'besideMany'];
    const cells = measured.map(ofSituation => ofSituation[index] as Measured);
    const keeps = cells.every(
      ({ first, retries, deadLetters }) =>
        deadLetters === 0 && brokenBounds(first, promised).length + brokenBounds(retries, promised).length === 0,
    );
    isKept &&= keeps;
    return [name, ...cells.map(cell => show(cell, promised)), `${showExtra(promised)}${keeps ? '' : ' MISSED'}`];
  });
  console.log(markdownTable(['attack', ...situations.map(({ head }) => head), 'promised'], rows));
  return isKept;
}

/** Returns the worst of each attack by plan. Each seed and beginning is a job, so that its run without an attack is made once. */
async function measureAll(chosen: readonly Scenario[], plans: readonly ServicePlan[]): Promise<Measured[][]> {
  const attacks = chosen.map(({ name }) => name);
  const seeds = Array.from({ length: options.seeds }, (_, index) => index + 1);
  const jobs: MeasureJob[] = plans.flatMap(plan =>
    seeds.flatMap(seed => starts.map(from => ({ plan, seed, from, attacks, attackLength }))),
  );
  let done = 0;
  const worker = new URL('./measure-worker.ts', import.meta.url);
  const results = await runInThreads<MeasureJob, Measured[]>(worker, jobs, () => {
    done += 1;
    progress(`${done} of ${jobs.length} runs of all attacks`);
  });
  const runsOfPlan = jobs.length / plans.length;
  return plans.map((_, number) => {
    const runs = results.slice(number * runsOfPlan, (number + 1) * runsOfPlan);
    return attacks.map((_attack, index) => worstMeasured(runs.map(run => run[index] as Measured)));
  });
}

function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\x1b[2K\r${what} …\r`);
}

function show({ first, retries, deadLetters }: Measured, promised: ExtraWaits): string {
  const dead = deadLetters === 0 ? '' : ` ${deadLetters} DEAD LETTERS`;
  return `${showExtra(first, promised)} (${showExtra(retries, promised)})${dead}`;
}

/** Shows the extra waits, and marks those that exceed their bound. */
function showExtra(extra: ExtraWaits, promised = extra): string {
  const broken = brokenBounds(extra, promised);
  return (['p99', 'inWindow', 'p999'] as const)
    .filter(bound => Number.isFinite(extra[bound]))
    .map(bound => `${Math.round(extra[bound])}${broken.includes(bound) ? '!' : ''}`)
    .join(' / ');
}
