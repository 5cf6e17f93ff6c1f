import { markdownTable } from '../support/markdown-table.ts';
import { makeRandom } from '../support/random.ts';
import { quantile } from '../support/statistics.ts';
import { simulateLargeReceiver, simulateOutage } from './healthy-receivers.ts';
import { readOptions, type SimulateOptions, usage } from './options.ts';
import { type Places, type ServicePlan, simulateQuickLanes, type Waits } from './quick-lanes.ts';
import { healthyTenants, type Scenario, scenarios } from './scenarios.ts';
import { simulateSlowLane } from './slow-lane.ts';

/*
 * `npm run simulate`: simulates isolation between webhooks in virtual time, with the functions that decide it in delivery,
 * and compares the waits of others with the limits below. Ends with 1 if one is exceeded; see `options.ts`.
 */

/** What is promised: the 99th percentile of the extra wait of others, in milliseconds. */
const promisedBesideOne = 500;
const promisedBesideFifty = 1_500;
const promisedWhenProvisioned = 200;
const promisedToBystander = 30_000;
const promisedAfterOutage = 10 * 60_000;

/** Three minutes of attack, on an idle service and after a minute of ordinary load. */
const attackLength = 180_000;
const starts = [0, 60_000];

const countLag = 2_000;

/** The runs without an attack, by plan, seed and start: they are the same for all attacks. */
const aloneRuns = new Map<string, Waits>();

const options = readOrExit();
if (options.help) console.log(usage);
else process.exitCode = main() ? 0 : 1;

interface Extra {
  first: number;
  retries: number;
  longest: number;
}

function readOrExit(): SimulateOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

/** Runs what the options name. Gives whether every promise is kept. */
function main(): boolean {
  const chosen = scenarios.filter(({ name }) => name.includes(options.only));
  if (chosen.length === 0) {
    console.error(`No attack is called "${options.only}". They are:\n${scenarios.map(({ name }) => name).join('\n')}`);
    return false;
  }
  if (options.rules === 'before') {
    showFormerRules(chosen);
    return true;
  }
  const kept = [showQuickLanes(chosen), showProvisioned(chosen)];
  if (options.only === '') kept.push(showSlowLane(), showHealthyReceivers());
  const isKept = kept.every(each => each);
  console.log(isKept ? '\nEvery promise is kept.' : '\nA promise is missed.');
  return isKept;
}

function showFormerRules(chosen: readonly Scenario[]): void {
  console.log(
    'Former rules: one slow attempt makes a webhook slow, one quick success or a PUT ends that, and all places are there at once.\n',
  );
  const plan: ServicePlan = { places: placesOf(atOnce), isFair: true, giveUp: 'waiting', countLag, rules: 'before' };
  const rows = chosen.map(scenario => {
    progress(scenario.name);
    return [scenario.name, showExtra(worstExtra(scenario, plan, 1))];
  });
  console.log(markdownTable(['attack', 'extra wait, 99th percentile / at most (retries in the 99th), ms'], rows));
}

function showQuickLanes(chosen: readonly Scenario[]): boolean {
  console.log(`Quick lanes: extra wait of healthy first attempts in the 99th percentile / at most (retries in the 99th), ms.
20 accounts with 5 events a second; worst of ${options.seeds} seeds, on an idle service and under steady load.\n`);
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
  console.log(markdownTable(['attack', ...heads, 'promised'], rows));
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
  console.log(markdownTable(['attack', 'extra', 'promised'], rows));
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
      const plan = { places: grown(20), isFair, hanging: 50, hangingRate, bystanderRate: 2, hours };
      const result = simulateSlowLane(plan, makeRandom(1));
      const keeps = result.bystanderLongest <= promisedToBystander;
      isKept &&= keeps;
      return [
        `50 hang at ${hangingRate}/s, ${isFair ? 'fair' : 'in order'}`,
        `${result.bystanderP99} / ${result.bystanderLongest}`,
        result.attempts.toLocaleString('en'),
        result.queued.toLocaleString('en'),
        result.waitingInTable.toLocaleString('en'),
        `${promisedToBystander}${keeps ? '' : ' MISSED'}`,
      ];
    }),
  );
  const head = [
    'slow webhooks',
    'bystander late by, 99th / at most, ms',
    'attempts',
    'in the queue',
    'in the table',
    'promised',
  ];
  console.log(markdownTable(head, rows));
  return isKept;
}

function showHealthyReceivers(): boolean {
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
  console.log('\nHealthy receivers:\n');
  console.log(markdownTable(['receiver', 'figure', 'promised'], rows));
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
