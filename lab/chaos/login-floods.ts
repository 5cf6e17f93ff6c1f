import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { ThrottleClass } from '../../lambdas/platform/route-table.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { type Client, createClient, createUser, type User } from '../../tools/support/accounts.ts';
import { startLocalRun } from '../../tools/support/local-run.ts';
import { markdownTable } from '../../tools/support/markdown-table.ts';
import { makeServiceClient, passwordGrant, type ServiceClient } from '../../tools/support/service-client.ts';
import { quantile } from '../../tools/support/statistics.ts';
import type { Flood, FloodAnswers } from './flood.ts';

/** Logins beside floods, behind the throttles that a stage has by default, scaled down. */
export interface LoginFloodSettings {
  /** The limits of routes are divided by it, so that two processors can send more than they let pass. */
  readonly scale: number;
  /** Integrators' programs, each with a user of its own. */
  readonly clients: number;
  /** Each logs in once in this time. In milliseconds. */
  readonly every: number;
  /** The time that logins are measured alone, and beside each flood. In milliseconds. */
  readonly length: number;
  /** Requests of a flood in a second. */
  readonly rate: number;
}

/** Logins in one situation. */
interface Logins {
  /** From the moment at which each was due, in milliseconds; of those that succeeded. */
  readonly times: readonly number[];
  readonly refused: number;
}

/** The effect of the flood of one class. */
export interface LoginFloodResult {
  readonly flooded: ThrottleClass;
  readonly path: string;
  readonly alone: Logins;
  readonly beside: Logins;
  readonly answers: FloodAnswers;
}

export const loginFloodRun: LoginFloodSettings = { scale: 10, clients: 20, every: 2_500, length: 15_000, rate: 100 };

/** Measures logins alone and beside a flood of a route of each class. */
export async function measureLoginFloods(
  settings: LoginFloodSettings,
  say: (line: string) => void,
): Promise<readonly LoginFloodResult[]> {
  const run = await startLocalRun(...limits(settings).flatMap(value => ['--set', value]));
  try {
    const service = makeServiceClient(run.outputs);
    const people: [Client, User][] = [];
    for (let made = 0; made < settings.clients; made++) {
      people.push([await createClient(run.outputsFile), await createUser(run.outputsFile)]);
    }
    await logInAll(service, people, settings); // until its processes have started
    const results: LoginFloodResult[] = [];
    for (const [flooded, path, flood] of floodsOf(run.outputs)) {
      const alone = await logInAll(service, people, settings);
      const answers = startFlood({ ...flood, rate: settings.rate, length: settings.length });
      const beside = await logInAll(service, people, settings);
      results.push({ flooded, path, alone, beside, answers: await answers });
      say(`${flooded}: ${alone.refused} logins refused alone, ${beside.refused} beside the flood`);
      await pause(2_000); // until the buckets are full again
    }
    return results;
  } finally {
    await run.stop();
  }
}

/** Returns the table of the floods, and whether none took something from the logins that was not its own. */
export function describeLoginFloods(
  results: readonly LoginFloodResult[],
  { scale, clients, every, length, rate }: LoginFloodSettings,
): { readonly text: string; readonly isHeld: boolean } {
  const rows = results.map(({ flooded, path, alone, beside, answers }) => {
    const seconds = length / 1_000;
    const sent = Object.values(answers).reduce((sum, count) => sum + count, 0);
    const throttled = answers[429] ?? 0;
    const isTaken = alone.refused > 0 || throttled === 0 || (flooded !== 'token' && beside.refused > 0);
    const perSecond = (count: number) => (count / seconds).toFixed(0);
    const cells = [
      `${flooded}: \`${path}\``,
      ...[sent, sent - throttled].map(perSecond),
      ...[alone, beside].flatMap(describeLogins),
      isTaken ? 'TAKEN' : '',
    ];
    return { cells, isTaken };
  });
  const head = ['flooded', 'sent/s', 'passed/s'];
  const of = (which: string) => ['p50', 'p99', 'refused'].map(what => `${which}: ${what}`);
  const text = [
    `${clients} clients log in, each every ${every / 1_000} s, for ${length / 1_000} s alone and as long beside each flood of`,
    `${rate} requests a second, behind the default throttles divided by ${scale}. Milliseconds. A flood of the token endpoint itself`,
    'shares its throttle.',
    '',
    markdownTable(
      [...head, ...of('alone'), ...of('beside'), ''],
      rows.map(({ cells }) => cells),
    ),
  ].join('\n');
  return { text, isHeld: rows.every(({ isTaken }) => !isTaken) };
}

function describeLogins({ times, refused }: Logins): string[] {
  const share = `${refused} of ${times.length + refused}`;
  return [quantile(times, 0.5).toFixed(0), quantile(times, 0.99).toFixed(0), share];
}

/** Returns the limits of a stage that sets none, scaled down: the local run has others. */
function limits({ scale }: LoginFloodSettings): string[] {
  return Object.entries(stageConfiguration('dev')).flatMap(([key, value]) =>
    /^(token|auth|management|public)(Rate|Burst)Limit$/.test(key) ? [`${key}=${Math.ceil(Number(value) / scale)}`] : [],
  );
}

/** Returns a request that floods a route of each class. None needs to know a secret. */
function floodsOf({ AuthUrl, BaseUrl }: Record<'AuthUrl' | 'BaseUrl', string>) {
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  const client = 'client_id=stranger&client_secret=guessed';
  const get = { method: 'GET', headers: { authorization: 'Bearer guessed' }, body: '' };
  const floods: readonly (readonly [ThrottleClass, string, Omit<Flood, 'url' | 'rate' | 'length'>])[] = [
    ['public', '/unknown', get],
    ['auth', '/oauth/v1/introspect', { ...form, body: `${client}&token=guessed` }],
    ['management', '/v1/webhooks', get],
    ['token', '/oauth/v1/token', { ...form, body: `${client}&grant_type=password&username=a&password=b` }],
  ];
  return floods.map(([flooded, path, flood]) => {
    const url = `${flooded === 'management' ? BaseUrl : AuthUrl}${path}`;
    return [flooded, path, { ...flood, url }] as const;
  });
}

function startFlood(flood: Flood): Promise<FloodAnswers> {
  const worker = new Worker(new URL('flood.ts', import.meta.url), { workerData: flood });
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
}

/** Logs all clients in, again and again, one after another in even steps. */
async function logInAll(
  service: ServiceClient,
  people: readonly (readonly [Client, User])[],
  { every, length }: LoginFloodSettings,
): Promise<Logins> {
  const times: number[] = [];
  let refused = 0;
  const begun = performance.now();
  const count = Math.floor((length / every) * people.length);
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const due = begun + (index * every) / people.length;
      await pause(Math.max(0, due - performance.now()));
      const [client, user] = people[index % people.length] ?? [];
      if (!client || !user) return;
      const { status } = await service.postForm('token', passwordGrant(client, user));
      if (status === 200) times.push(performance.now() - due);
      else refused++;
    }),
  );
  return { times, refused };
}
