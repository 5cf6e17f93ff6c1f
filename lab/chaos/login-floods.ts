import { setTimeout as pause } from 'node:timers/promises';
import type { ThrottleClass } from '../../lambdas/platform/route-table.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { type Client, createClient, createUser, type User } from '../../tools/support/accounts.ts';
import { startLocalRun } from '../../tools/support/local-run.ts';
import { markdownTable } from '../../tools/support/markdown-table.ts';
import { makeServiceClient, passwordGrant, type ServiceClient } from '../../tools/support/service-client.ts';
import { quantile } from '../../tools/support/statistics.ts';

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
  /** Requests of the flood, and those of them that were answered with 429. */
  readonly sent: number;
  readonly throttled: number;
}

/** Logins beside floods, behind the throttles that a stage has by default, scaled down. Times in milliseconds. */
const settings = {
  /** The limits of routes are divided by it, so that two processors can send more than they let pass. */
  scale: 10,
  /** Integrators' programs, each with a user of its own, who logs in once in `every`. */
  clients: 20,
  every: 2_500,
  /** The time that logins are measured alone, and beside each flood. */
  length: 15_000,
  /** Requests of a flood in a second. */
  rate: 100,
} as const;

/** Measures logins alone and beside a flood of a route of each class. */
export async function measureLoginFloods(say: (line: string) => void): Promise<readonly LoginFloodResult[]> {
  const run = await startLocalRun(...limits().flatMap(value => ['--set', value]));
  try {
    const service = makeServiceClient(run.outputs);
    const people: [Client, User][] = [];
    for (let made = 0; made < settings.clients; made++) {
      people.push([await createClient(run.outputsFile), await createUser(run.outputsFile)]);
    }
    await logInAll(service, people); // until its processes have started
    const results: LoginFloodResult[] = [];
    for (const [flooded, host, path, request] of floods) {
      const alone = await logInAll(service, people);
      const flooding = flood(`${run.outputs[host]}${path}`, request);
      const beside = await logInAll(service, people);
      results.push({ flooded, path, alone, beside, ...(await flooding) });
      say(`${flooded}: ${alone.refused} logins refused alone, ${beside.refused} beside the flood`);
      await pause(2_000); // until the buckets are full again
    }
    return results;
  } finally {
    await run.stop();
  }
}

/** Returns the table of the floods, and whether none took something from the logins that was not its own. */
export function describeLoginFloods(results: readonly LoginFloodResult[]) {
  const { scale, clients, every, length, rate } = settings;
  const rows = results.map(({ flooded, path, alone, beside, sent, throttled }) => {
    const isTaken = alone.refused > 0 || throttled === 0 || (flooded !== 'token' && beside.refused > 0);
    const perSecond = [sent, sent - throttled].map(count => (count / (length / 1_000)).toFixed(0));
    const logins = [alone, beside].flatMap(describeLogins);
    return { cells: [`${flooded}: \`${path}\``, ...perSecond, ...logins, isTaken ? 'TAKEN' : ''], isTaken };
  });
  const of = (which: string) => ['p50', 'p99', 'refused'].map(what => `${which}: ${what}`);
  const text = [
    `${clients} clients log in, each every ${every / 1_000} s, for ${length / 1_000} s alone and as long beside each flood of`,
    `${rate} requests a second, behind the default throttles divided by ${scale}. Milliseconds. A flood of the token endpoint itself`,
    'shares its throttle.',
    '',
    markdownTable(
      ['flooded', 'sent/s', 'passed/s', ...of('alone'), ...of('beside'), ''],
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
function limits(): string[] {
  return Object.entries(stageConfiguration('dev')).flatMap(([key, value]) =>
    /^(token|auth|management|public)(Rate|Burst)Limit$/.test(key)
      ? [`${key}=${Math.ceil(Number(value) / settings.scale)}`]
      : [],
  );
}

const get: RequestInit = { method: 'GET', headers: { authorization: 'Bearer guessed' } };
const form = (fields: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: `client_id=stranger&client_secret=guessed&${fields}`,
});

/** A request that floods a route of each class. None needs to know a secret. */
const floods: readonly (readonly [ThrottleClass, 'AuthUrl' | 'BaseUrl', string, RequestInit])[] = [
  ['public', 'AuthUrl', '/unknown', get],
  ['auth', 'AuthUrl', '/oauth/v1/introspect', form('token=guessed')],
  ['management', 'BaseUrl', '/v1/webhooks', get],
  ['token', 'AuthUrl', '/oauth/v1/token', form('grant_type=password&username=a&password=b')],
];

/** Sends requests at a fixed rate, whatever is answered. Returns how many, and how many of these were throttled. */
async function flood(url: string, request: RequestInit): Promise<Pick<LoginFloodResult, 'sent' | 'throttled'>> {
  const statuses = await callEvenly((settings.rate * settings.length) / 1_000, async () => {
    try {
      const response = await fetch(url, { ...request, signal: AbortSignal.timeout(patience) });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return undefined; // no answer
    }
  });
  return { sent: statuses.length, throttled: statuses.filter(status => status === 429).length };
}

/** Milliseconds. */
const patience = 5_000;

/** Logs all clients in, again and again, one after another. */
async function logInAll(service: ServiceClient, people: readonly (readonly [Client, User])[]): Promise<Logins> {
  const rounds = Array.from({ length: settings.length / settings.every }, () => people).flat();
  const times = await callEvenly(rounds.length, async (index, due) => {
    const [client, user] = rounds[index] ?? [];
    if (!client || !user) return undefined;
    const { status } = await service.postForm('token', passwordGrant(client, user));
    return status === 200 ? performance.now() - due : undefined;
  });
  const succeeded = times.filter(time => time !== undefined);
  return { times: succeeded, refused: times.length - succeeded.length };
}

/** Makes so many calls in even steps, and waits for no answer in between. Each is given the moment at which it was due. */
function callEvenly<Result>(count: number, call: (index: number, due: number) => Promise<Result>): Promise<Result[]> {
  const begun = performance.now();
  const calls = Array.from({ length: count }, async (_, index) => {
    const due = begun + (index * settings.length) / count;
    await pause(Math.max(0, due - performance.now()));
    return call(index, due);
  });
  return Promise.all(calls);
}
