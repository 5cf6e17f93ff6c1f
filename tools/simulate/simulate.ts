import { quantile, table } from '../bench/figures.ts';
import { makeRandom } from '../chaos/random.ts';
import { simulateLargeReceiver, simulateOutage } from './innocents.ts';
import { readOptions, type SimulateOptions, usage } from './options.ts';
import { type Places, type ServicePlan, simulateQuickLanes, type Waits } from './quick-lanes.ts';
import { healthyTenants, type Scenario, scenarios } from './scenarios.ts';
import { simulateSlowLane } from './slow-lane.ts';

/*
 * Simulates isolation between webhooks in virtual time, by the very functions that decide it in delivery, and holds the
 * figures against what is promised. Ends with 1 where they miss it.
 */

/** What is promised: extra wait of others in the 99th percentile, in milliseconds. */
const promisedBesideOne = 500;
const promisedBesideFifty = 1_500;
const promisedWhenProvisioned = 200;
const promisedToInnocent = 30_000;
const promisedAfterOutage = 10 * 60_000;

/** Three minutes of attack, from a standing start and after a minute of ordinary load. */
const attackLength = 180_000;
const starts = [0, 60_000];

const countLag = 2_000;

/** The runs without an attack, for as long as the program runs. */
const aloneRuns = new Map<string, Waits>();

const options = understood(process.argv.slice(2));
if (options.help) console.log(usage);
else process.exitCode = main() ? 0 : 1;

interface Extra {
  first: number;
  retries: number;
  longest: number;
}

/** What was asked for. Where that is not understood, the process says so and ends. */
function understood(args: readonly string[]): SimulateOptions {
  try {
    return readOptions(args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

/** Gives whether everything that was simulated keeps its promise. */
function main(): boolean {
  const chosen = scenarios.filter(({ name }) => name.includes(options.only));
  if (chosen.length === 0) {
    console.error(`No attack is called "${options.only}". They are:\n${scenarios.map(({ name }) => name).join('\n')}`);
    return false;
  }
  if (options.rules === 'before') {
    showBefore(chosen);
    return true;
  }
  const kept = [showQuickLanes(chosen), showProvisioned(chosen)];
  if (options.only === '') kept.push(showSlowLane(), showInnocents());
  const isKept = kept.every(each => each);
  console.log(isKept ? '\nEvery promise is kept.' : '\nA promise is missed.');
  return isKept;
}

function showBefore(chosen: readonly Scenario[]): void {
  console.log(
    'As it was: one slow attempt makes slow, one quick success or a PUT ends it, and all places are there at once.\n',
  );
  const plan: ServicePlan = { places: placesOf(atOnce), isFair: true, giveUp: 'waiting', countLag, rules: 'before' };
  const rows = chosen.map(scenario => {
    progress(scenario.name);
    return [scenario.name, showExtra(worstExtra(scenario, plan, 1))];
  });
  console.log(table(['attack', 'extra wait, 99th percentile / at most (retries in the 99th), ms'], rows));
}

function showQuickLanes(chosen: readonly Scenario[]): boolean {
  console.log(`Quick lanes: extra wait of healthy first attempts in the 99th percentile / at most (retries in the 99th), ms.
20 accounts with 5 events a second; worst of ${options.seeds} seeds, from a standing start and from steady load.\n`);
  const situations: readonly Pick<ServicePlan, 'isFair' | 'giveUp'>[] = [
    { isFair: true, giveUp: 'waiting' },
    { isFair: true, giveUp: 'always' },
    { isFair: false, giveUp: 'waiting' },
    { isFair: false, giveUp: 'always' },
  ];
  let isKept = true;
  const rows = chosen.map(scenario => {
    const promised = scenario.accounts === 1 ? promisedBesideOne : promisedBesideFifty;
    const extras = situations.map(situation => {
      progress(scenario.name);
      const plan: ServicePlan = { ...situation, places: placesOf(grown), countLag, rules: 'present' };
      return worstExtra(scenario, plan, options.seeds);
    });
    const keeps = extras.every(({ first, retries }) => first <= promised && retries <= promised);
    isKept &&= keeps;
    return [scenario.name, ...extras.map(showExtra), `${promised}${keeps ? '' : ' MISSED'}`];
  });
  const heads = situations.map(({ isFair, giveUp }) => `${isFair ? 'fair' : 'in order'}, give up ${giveUp}`);
  console.log(table(['attack', ...heads, 'promised'], rows));
  return isKept;
}

function showProvisioned(chosen: readonly Scenario[]): boolean {
  console.log('\nThe same with two provisioned pollers for each lane, fair queues:\n');
  let isKept = true;
  const rows = chosen.map(scenario => {
    progress(scenario.name);
    const plan: ServicePlan = {
      places: placesOf(provisioned),
      isFair: true,
      giveUp: 'waiting',
      countLag,
      rules: 'present',
    };
    const extra = worstExtra(scenario, plan, 1);
    const keeps = extra.first <= promisedWhenProvisioned && extra.retries <= promisedWhenProvisioned;
    isKept &&= keeps;
    return [scenario.name, showExtra(extra), `${promisedWhenProvisioned}${keeps ? '' : ' MISSED'}`];
  });
  console.log(table(['attack', 'extra', 'promised'], rows));
  return isKept;
}

function showSlowLane(): boolean {
  const { hours } = options;
  console.log(
    `\nSlow lane: ${hours} hours with all retries. One webhook answers in 3 s, twice a second; beside it 50 hang.\n`,
  );
  let isKept = true;
  const rows = [1, 10].flatMap(hangingRate =>
    [true, false].map(isFair => {
      progress(`50 hang at ${hangingRate}/s`);
      const plan = { places: grown(20), isFair, hanging: 50, hangingRate, innocentRate: 2, hours };
      const figures = simulateSlowLane(plan, makeRandom(1));
      const keeps = figures.innocentLongest <= promisedToInnocent;
      isKept &&= keeps;
      return [
        `50 hang at ${hangingRate}/s, ${isFair ? 'fair' : 'in order'}`,
        `${figures.innocentP99} / ${figures.innocentLongest}`,
        figures.attempts.toLocaleString('en'),
        figures.queued.toLocaleString('en'),
        figures.waitingInTable.toLocaleString('en'),
        `${promisedToInnocent}${keeps ? '' : ' MISSED'}`,
      ];
    }),
  );
  const head = [
    'slow webhooks',
    'innocent late by, 99th / at most, ms',
    'attempts',
    'in the queue',
    'in the table',
    'promised',
  ];
  console.log(table(head, rows));
  return isKept;
}

function showInnocents(): boolean {
  const slowTimes = [5, 20].map(processes =>
    simulateLargeReceiver({ rate: 100, slowShare: 0.001, processes, hours: 6 }, makeRandom(processes)),
  );
  const outage = simulateOutage(100, makeRandom(1));
  const period = { from: 0, until: attackLength };
  const cold = coldStarts(period);
  const rows = [
    ['100 events a second, 0.1 % over 2 s, 6 hours: made slow', slowTimes.join(' and '), '0'],
    ['the same after hanging for a minute: nothing waits after, s', (outage.emptyAfter / 1_000).toFixed(), '600'],
    ['  of at most so many that waited', String(outage.waited), ''],
    ['3 s after a cold start, once in 30 s: events sent twice', String(cold), '0'],
  ];
  console.log('\nInnocents:\n');
  console.log(table(['receiver', 'figure', 'promised'], rows));
  return slowTimes.every(times => times === 0) && outage.emptyAfter <= promisedAfterOutage && cold === 0;
}

function placesOf(kind: (most: number) => Places) {
  return { first: kind(50), retry: kind(20) };
}

function atOnce(most: number): Places {
  return { atFirst: most, most, growth: 1 };
}

function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\x1b[2K\r${what} …\r`);
}

function showExtra({ first, retries, longest }: Extra): string {
  return `${Math.round(first)} / ${Math.round(longest)} (${Math.round(retries)})`;
}

/** The largest extra waits over seeds and starts. */
function worstExtra(scenario: Scenario, plan: ServicePlan, seeds: number): Extra {
  const worst: Extra = { first: 0, retries: 0, longest: 0 };
  for (let seed = 1; seed <= seeds; seed++) {
    for (const from of starts) {
      const period = { from, until: from + attackLength };
      const run = (attackers: readonly Parameters<typeof simulateQuickLanes>[1][number][]): Waits =>
        simulateQuickLanes(
          plan,
          [...healthyTenants(period, makeRandom(seed)), ...attackers],
          period,
          makeRandom(1_000 + seed),
        );
      const alone = aloneOf(`${JSON.stringify(plan)} ${seed} ${from}`, () => run([]));
      const beside = run(scenario.tenants(period, makeRandom(2_000 + seed)));
      const extra = (which: keyof Waits) => quantile(beside[which], 0.99) - quantile(alone[which], 0.99);
      worst.first = Math.max(worst.first, extra('first'));
      worst.retries = Math.max(worst.retries, extra('retries'));
      worst.longest = Math.max(worst.longest, quantile(beside.first, 1) - quantile(alone.first, 1));
    }
  }
  return worst;
}

/** The run without the attack is the same for all attacks. */
function aloneOf(key: string, run: () => Waits): Waits {
  const known = aloneRuns.get(key) ?? run();
  aloneRuns.set(key, known);
  return known;
}

/** SQS event sources begin with five batches and add 300 a minute; provisioned pollers have ten each and add 1,000. */
function grown(most: number): Places {
  return { atFirst: 5, most, growth: 5 };
}

function provisioned(most: number): Places {
  return { atFirst: 20, most, growth: 1_000 / 60 };
}

/** Attempts beyond the first at a receiver that starts cold on a quiet day. */
function coldStarts(period: { from: number; until: number }): number {
  const publishes = Array.from({ length: 6 }, (_, index) => index * 30_000);
  let attempts = 0;
  const tenant = {
    account: 'cold',
    isHealthy: false,
    publishes,
    behave: () => {
      attempts += 1;
      return { resolves: 2, answers: 3_000, isSuccess: true };
    },
  };
  const plan: ServicePlan = { places: placesOf(grown), isFair: true, giveUp: 'waiting', countLag, rules: 'present' };
  simulateQuickLanes(plan, [tenant], period, makeRandom(1));
  return attempts - publishes.length;
}
