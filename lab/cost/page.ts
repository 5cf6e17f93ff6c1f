import { receivePauseOfOne } from '../../lambdas/delivery/limits.ts';
import { markdownTable } from '../../tools/support/markdown-table.ts';
import { assumptions } from './assumptions.ts';
import { type Action, actions, type Measured, millisecondsOf, quantitiesOf } from './counts.ts';
import { type IdleItem, idleMonth } from './idle.ts';
import { customMetrics } from './metrics.ts';
import {
  costOf,
  costsAlone,
  costsOf,
  type Priced,
  type PricedRegion,
  pricedRegions,
  priceFile,
  type Quantities,
} from './prices.ts';

/** An idle month of each stage, by its name. */
export type IdleMonths = Readonly<Record<(typeof stages)[number], readonly IdleItem[]>>;

/** Returns the idle months of the stages: their templates are made for it, which takes seconds. */
export function idleMonths({ sweep }: Measured): IdleMonths {
  return { dev: idleMonth('dev', sweep), prod: idleMonth('prod', sweep) };
}

/** Returns the page of the costs: everything on it follows from the counts, the prices, the assumptions and the templates. */
export function costPage({ actions: counts }: Measured, months: IdleMonths): string {
  const home = priceFile.regions['us-east-1'];
  const ofFairRequest = home.queueRequest + home.fairQueueRequest;
  const waitingCost = (action: 'quiet' | 'busy') =>
    1e6 * 0.1 * counts[action].invocations * (counts[action].megabytes / 1_024) * home.gigabyteSecond;
  const all = customMetrics();
  return `# What it costs

Written by \`npm run cost\`, prices of ${priceFile.date} (\`lab/cost/prices.json\` names their sources).
${priceFile.note}

## A million of each
Dollars, without free tiers. Calls, units, requests of queues and bytes of logs are counted in one process, with clocks that are moved, so that
no machine is too slow for them. What is assumed stands below.

${markdownTable(
  ['what', ...pricedRegions],
  actions.map(action => [
    titles[action],
    ...pricedRegions.map(region =>
      dollars(1e6 * costOf(quantitiesOf(action, counts[action]), priceFile.regions[region])),
    ),
  ]),
)}

Item by item, us-east-1:

${markdownTable(
  ['what', ...items.map(([, title]) => title)],
  actions.map(action => {
    const costs = costsOf(quantitiesOf(action, counts[action]), home);
    return [
      titles[action],
      ...items.map(([names]) => dollars(1e6 * names.reduce((sum, name) => sum + (costs[name] ?? 0), 0))),
    ];
  }),
)}

The counts behind them, of one each:

${markdownTable(
  [
    'what',
    'invocations',
    'ms taken',
    'MB',
    'store calls',
    'read units',
    'write units',
    'SQS',
    'KMS',
    'log bytes',
    'of access logs',
  ],
  actions.map(action => {
    const { invocations, megabytes, storeCalls, readUnits, writeUnits, queueRequests, keyRequests } = counts[action];
    const { logBytes, accessLogBytes } = counts[action];
    const counted = [storeCalls, readUnits, writeUnits, queueRequests, keyRequests].map(short);
    return [
      titles[action],
      short(invocations),
      String(Math.round(millisecondsOf(action, counts[action]))),
      short(megabytes),
      ...counted,
      short(logBytes),
      short(accessLogBytes),
    ];
  }),
)}

- *Receivers* are taken to answer after ${assumptions.receiverMs} ms (\`lab/cost/assumptions.ts\`). Of a million quiet deliveries each further 100 ms
  cost ${dollars(waitingCost('quiet'))}; of busy ones, which wait together, ${dollars(waitingCost('busy'))}. From ${receivePauseOfOne} ms on a consumer with a single message asks its
  queue for more, in vain as a rule: ${dollars(1e6 * ofFairRequest)} a million.
- *Busy* takes the publisher to send ten events by one request. One by one a million cost ${dollars(9e5 * ofFairRequest)} more.
- *Time is computed*: a function's time on this machine is not its time on AWS. An invocation is taken to need the processor for
  ${assumptions.timesSlower} times what \`docs/performance.md\` reports, divided by the share of a processor that its memory buys
  (${assumptions.processorMegabytes} MB is a whole one), and ${assumptions.storeCallMs} ms for each call to the store, one after the other. Of a test's three invocations one waits for
  the receiver. Starts of processes are left out.
- *Store calls* cost nothing but their time. Of a busy batch the answers are taken to come together, so that one call writes them.
- *Write units*: each started KiB of the larger of old and new item, and one for each index entry written or deleted. *Read
  units*: each started 4 KiB of a consistent read, half of it for any other.
- *Exhausted*: all ${short(counts.exhausted.invocations)} attempts of the schedule, and the sweeper's part in long waits.
- *SQS*: the publisher's own request, the trigger's receiving and deleting, and the functions' requests. Busy ones share theirs
  by ten. The surcharge of fair queues is taken for every request of the events queue.
- *Logs*: the functions' lines, a line in the access log of the API for each request, and ${assumptions.perLineBytes} bytes that CloudWatch adds to each. Lambda's own
  lines of invocations that went well are not written.
- *Without a webhook*: a process writes once an hour for each account and event that it came, one unit; that is left out of the count.
- Left out: the keyring, which a process reads and opens anew where it has not done so for 30 s. Where invocations are further
  apart each pays for it: a million queries of one unit are ${dollars(1e6 * home.readUnit)}, and a million keys opened ${dollars(1e6 * home.keyRequest)}. Left out too: sweeps, which
  many share; data sent to the Internet; storage of tables.

## Custom metrics of a busy month
CloudWatch takes ${dollars(home.metric)} a month for each name with its dimensions, for the hours in which it is written. A stage with customers and smoke tests
has ${sum(all.map(({ ordinary }) => ordinary.length))} that work, integrators and receivers cause: ${dollars(home.metric * sum(all.map(({ ordinary }) => ordinary.length)))} where each is written in every hour. ${sum(all.map(({ faults }) => faults.length))} more tell of
faults, each function's \`ServerError\` anew with each release. \`lab/cost/metrics.ts\` has their names.

${markdownTable(
  ['service', 'metrics', 'dollars', 'of faults', 'dollars, in every hour'],
  all.map(({ service, ordinary, faults }) => [
    service,
    String(ordinary.length),
    dollars(home.metric * ordinary.length),
    String(faults.length),
    dollars(home.metric * faults.length),
  ]),
)}

## Beside others
Their published list prices, in dollars for a million deliveries:

${markdownTable(
  ['what', 'dollars', 'what it does not do for it'],
  [
    [
      'Emissor, quiet to busy',
      `${dollars(1e6 * costOf(quantitiesOf('quiet', counts.quiet), home))} to ${dollars(1e6 * costOf(quantitiesOf('busy', counts.busy), home))}`,
      '',
    ],
    ...others,
  ],
)}

## A month in which nothing happens
Dollars, us-east-1, from the synthesised templates and one run of the sweeper: at list price, and alone in an account, after what AWS
gives every account each month: ${given}.
sa-east-1: ${stages.map(stage => `${stage} ${dollars(sumOf(months[stage], 'sa-east-1'))} and ${dollars(sumAlone(months[stage], 'sa-east-1'))}`).join(', ')}.

${idleTable(months)}

Each deployment leaves bundles in the bucket of the bootstrap stack, some megabytes that nobody deletes.
\`npx cdk gc --unstable=gc aws://ACCOUNT/REGION\` deletes what no deployed template names. Versions that are published keep their code.
`;
}

/** Returns what one of each costs in a Region, in dollars: `lib/unit-costs.json`, which the dashboard of a stage counts with. */
export function unitCosts({ actions: counts }: Measured) {
  const one = (action: Action, region: PricedRegion) =>
    costOf(quantitiesOf(action, counts[action]), priceFile.regions[region]);
  const costsIn = (region: PricedRegion) => ({
    login: rounded(one('login', region)),
    refresh: rounded(one('refresh', region)),
    delivered: rounded(one('quiet', region)),
    failedAttempt: rounded(one('exhausted', region) / counts.exhausted.invocations),
  });
  return Object.fromEntries(pricedRegions.map(region => [region, costsIn(region)]));
}

/** Three digits, without an exponent, which metric math does not know. */
function rounded(dollars: number): number {
  return Number(dollars.toFixed(9));
}

/** Returns what an idle month of a stage's first year costs in a Region at list price, in dollars. */
export function sumOf(month: readonly IdleItem[], region: PricedRegion): number {
  return sum(firstYear(month).map(({ quantities }) => costOf(quantities, priceFile.regions[region])));
}

/** Returns the same for a stage that is alone in its account. */
export function sumAlone(month: readonly IdleItem[], region: PricedRegion): number {
  return sum(costsAlone(firstYear(month).map(quantitiesIn), priceFile.regions[region]));
}

function firstYear(month: readonly IdleItem[]): readonly IdleItem[] {
  return month.filter(({ fromYear }) => fromYear === undefined);
}

const stages = ['dev', 'prod'] as const;

function idleTable({ dev, prod }: IdleMonths): string {
  const prices = priceFile.regions['us-east-1'];
  const [aloneDev, aloneProd] = [dev, prod].map(month => costsAlone(month.map(quantitiesIn), prices));
  const rows = dev.map((item, at) => {
    const other = prod[at] ?? item;
    const what = item.what === other.what ? item.what : `${item.what}; prod: ${other.what}`;
    const listed = [item, other].map(({ quantities }) => costOf(quantities, prices));
    const costs = [listed[0], aloneDev?.[at], listed[1], aloneProd?.[at]];
    return { item, cells: [what, ...costs.map(cost => dollars(cost ?? 0))] };
  });
  const cellsOf = (isFirst: boolean) =>
    rows.flatMap(({ item, cells }) => ((item.fromYear === undefined) === isFirst ? [cells] : []));
  const sums = [dev, prod].flatMap(month => [sumOf(month, 'us-east-1'), sumAlone(month, 'us-east-1')]);
  return markdownTable(
    ['what', 'dev', 'dev, alone', 'prod', 'prod, alone'],
    [...cellsOf(true), ['**together**', ...sums.map(cost => `**${dollars(cost)}**`)], ...cellsOf(false)],
  );
}

function quantitiesIn({ quantities }: IdleItem): Quantities {
  return quantities;
}

/** The part of AWS's free tier that an idle month uses. */
const { alarm, metric, dashboard, queueRequest, invocation, gigabyteSecond, keyRequest, logGigabyte } =
  priceFile.free.quantities;
const given = `${alarm} metrics of alarms, ${metric} of one's own, ${dashboard} dashboards, ${count(queueRequest)} requests of queues,
${count(invocation)} invocations and ${count(gigabyteSecond)} GB-s, ${count(keyRequest)} requests to KMS, ${logGigabyte} GB of logs`;

function count(value = 0): string {
  return value.toLocaleString('en');
}

const titles: Readonly<Record<Action, string>> = {
  login: 'login',
  refresh: 'refresh',
  quiet: 'delivered, quiet: one per invocation',
  busy: 'delivered, busy: ten per invocation',
  exhausted: 'exhausted, answers of 1 KiB',
  exhaustedEmpty: 'exhausted, empty answers',
  registration: 'registration',
  test: 'test',
  withoutWebhook: 'event without a webhook, one per invocation',
};

const items: readonly (readonly [readonly Priced[], string])[] = [
  [['apiRequest'], 'HTTP API'],
  [['invocation'], 'invocations'],
  [['gigabyteSecond'], 'their time'],
  [['writeUnit'], 'writes'],
  [['readUnit'], 'reads'],
  [['queueRequest', 'fairQueueRequest'], 'SQS'],
  [['keyRequest'], 'KMS'],
  [['logGigabyte'], 'logs'],
];

const others: readonly (readonly string[])[] = [
  [
    'Amazon SNS to HTTP(S)',
    '1.10',
    'no secret or signature for each receiver, no history, no resend or replay, no lane for slow receivers; at most an hour of retries',
  ],
  [
    'EventBridge API destinations',
    '1.20',
    'no signature, no history for receivers, no replay of one delivery; a connection and a rule to be made for each receiver; an answer must come within 5 s',
  ],
  ['Outpost, managed', '10', 'no tokens; outside of the account, its permissions and its keys'],
  ['Svix', '100', 'no tokens; outside of the account, its permissions and its keys'],
];

function dollars(value: number): string {
  return value.toFixed(2);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}
