import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type * as z from 'zod';
import type { tokenEnvironment as environmentSchema } from '../../lambdas/auth/environment.ts';
import { bundleHandler } from '../../lib/constructs/bundle.ts';
import { type LocalOutputs, startLocalRun } from '../../tools/support/local-run.ts';
import { median, rotated } from '../../tools/support/statistics.ts';
import type { ServerMessage } from './measured-server.ts';

/** Processor time of one kind of request, in milliseconds; of oidc-provider over DynamoDB and over its own memory. */
export interface ComparisonRow {
  readonly what: 'refresh' | 'login';
  readonly ours: number;
  readonly theirs: number;
  readonly theirsInMemory: number;
  /** Medians of the ratios of neighbouring rounds: they hold when the machine's speed drifts. */
  readonly ratio: number;
  readonly ratioInMemory: number;
}

/** The size of a comparison. A round is requests of one kind in a row to one server, then to the other. */
export interface ComparisonSize {
  readonly rounds: number;
  readonly requests: number;
  /** Requests before anything is measured, so that both servers' code is compiled. */
  readonly warmUp: number;
}

/** Compares our token function with oidc-provider, request by request in the same run. */
export async function measureComparison(size: ComparisonSize): Promise<readonly ComparisonRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'emissor-bench-'));
  const run = await startLocalRun();
  const contenders: Contender[] = [];
  try {
    const { outputs } = run;
    const { Demo } = outputs;
    const bundle = join(directory, 'index.mjs');
    bundleHandler('lambdas/auth/endpoints/token.handler.ts', bundle);
    const begin = async (script: string, path: string, environment: Record<string, string>, ...args: string[]) => {
      const contender = await start(script, path, outputs, environment, ...args);
      contenders.push(contender);
      return contender;
    };
    const { aws, telemetry, settings } = environmentOf(outputs);
    const account = {
      BENCH_CLIENT_ID: Demo.ClientId,
      BENCH_CLIENT_SECRET: Demo.ClientSecret,
      BENCH_USERNAME: Demo.Username,
      BENCH_PASSWORD: Demo.Password,
    };
    const all: Contenders = {
      ours: await begin('emissor-server.ts', '/oauth/v1/token', { ...aws, ...telemetry, ...settings }, bundle),
      theirs: await begin('oidc-server.ts', '/token', { ...aws, ...account }, 'dynamodb'),
      theirsInMemory: await begin('oidc-server.ts', '/token', account),
    };
    const login = { grant_type: 'password', username: Demo.Username, password: Demo.Password };
    const rows: ComparisonRow[] = [];
    for (const what of ['refresh', 'login'] as const) rows.push(await compare(what, all, login, size));
    return rows;
  } finally {
    for (const { stop } of contenders) stop();
    await run.stop();
    rmSync(directory, { recursive: true });
  }
}

/** Returns all variables of the token function in a local run. */
export function tokenEnvironment(outputs: LocalOutputs): Record<string, string> {
  const { aws, telemetry, settings } = environmentOf(outputs);
  return { ...aws, ...telemetry, ...settings };
}

/** A token endpoint in a process of its own. */
interface Contender {
  post(form: Form): Promise<{ readonly refresh_token: string }>;
  /** Since the process started, in milliseconds. */
  cpuMs(): Promise<number>;
  stop(): void;
}

async function start(
  script: string,
  path: string,
  outputs: LocalOutputs,
  environment: Record<string, string>,
  ...args: string[]
): Promise<Contender> {
  const child = fork(join(import.meta.dirname, script), args, {
    env: { NODE_ENV: 'production', ...environment },
    execArgv: ['--import', join(import.meta.dirname, 'cached-hash.ts')],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const listening = await nextMessage(child);
  if (!('port' in listening)) throw new Error(`${script} did not say where it listens.`);
  const { port } = listening;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const credentials = credentialsOf(outputs);

  return {
    post: async form => {
      const body = new URLSearchParams({ ...credentials, ...form }).toString();
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': Buffer.byteLength(body),
      };
      const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers });
      sent.end(body);
      const [response] = await once(sent, 'response');
      const answer = (await json(response)) as { refresh_token: string };
      if (response.statusCode !== 200) throw new Error(`${script} answered ${JSON.stringify(answer)}`);
      return answer;
    },
    cpuMs: async () => {
      const answer = nextMessage(child);
      child.send('processor time');
      const time = await answer;
      return 'cpuMs' in time ? time.cpuMs : Number.NaN;
    },
    stop: () => {
      agent.destroy();
      child.disconnect();
    },
  };
}

/** Returns the run's engines in the place of AWS, and what the token function is given in the run. */
function environmentOf(outputs: LocalOutputs) {
  return {
    aws: {
      AWS_REGION: outputs.Region,
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_ENDPOINT_URL_DYNAMODB: outputs.DynamoDbEndpoint,
      AWS_ENDPOINT_URL_KMS: outputs.KmsEndpoint,
    },
    telemetry: { LOG_LEVEL: 'INFO', POWERTOOLS_METRICS_NAMESPACE: 'Emissor/bench' },
    settings: {
      CLIENTS_TABLE: outputs.ClientsTable,
      USERS_TABLE: outputs.UsersTable,
      CREDENTIALS_TABLE: outputs.CredentialsTable,
      SESSIONS_TABLE: outputs.SessionsTable,
      LOCKOUTS_TABLE: outputs.LockoutsTable,
      KEYRING_TABLE: outputs.KeyringTable,
      ISSUER: outputs.AuthUrl,
      AUDIENCE: outputs.BaseUrl,
      ACCESS_TOKEN_SECONDS: '900',
      REFRESH_IDLE_SECONDS: String(14 * 86_400),
      REFRESH_ABSOLUTE_SECONDS: String(90 * 86_400),
      IP_FAILURE_LIMIT: '100000',
      CLIENT_FAILURE_LIMIT: '100000',
      OTHER_PASSWORD_HASHES: 'imported',
      FORMER_HOST: '',
      FORMER_HOST_SUNSET: '',
    } satisfies z.input<typeof environmentSchema>,
  };
}

interface Contenders {
  readonly ours: Contender;
  readonly theirs: Contender;
  readonly theirsInMemory: Contender;
}

async function compare(
  what: ComparisonRow['what'],
  contenders: Contenders,
  login: Form,
  { rounds, requests, warmUp }: ComparisonSize,
): Promise<ComparisonRow> {
  const refresh = (token: string): Form => ({ grant_type: 'refresh_token', refresh_token: token });
  const measure = async (contender: Contender, count: number): Promise<number> =>
    what === 'login'
      ? series(contender, count, login, () => login)
      : series(contender, count, refresh((await contender.post(login)).refresh_token), refresh);
  const names = ['ours', 'theirs', 'theirsInMemory'] as const;
  const measureAll = async (count: number, round: number) => {
    const times = { ours: 0, theirs: 0, theirsInMemory: 0 };
    for (const name of rotated(names, round)) times[name] = await measure(contenders[name], count);
    return times;
  };

  await measureAll(warmUp, 0);
  const measured: Awaited<ReturnType<typeof measureAll>>[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await measureAll(requests, round));
  return {
    what,
    ours: median(measured.map(times => times.ours)),
    theirs: median(measured.map(times => times.theirs)),
    theirsInMemory: median(measured.map(times => times.theirsInMemory)),
    ratio: median(measured.map(times => times.ours / times.theirs)),
    ratioInMemory: median(measured.map(times => times.ours / times.theirsInMemory)),
  };
}

type Form = Record<string, string>;

async function nextMessage(child: ChildProcess): Promise<ServerMessage> {
  return (await once(child, 'message'))[0] as ServerMessage;
}

function credentialsOf({ Demo }: LocalOutputs): Form {
  return {
    client_id: Demo.ClientId,
    client_secret: Demo.ClientSecret,
  };
}

/** Processor time per request of a series, one after the other. */
async function series({ post, cpuMs }: Contender, count: number, first: Form, next: (token: string) => Form) {
  let form = first;
  const before = await cpuMs();
  for (let sent = 0; sent < count; sent++) form = next((await post(form)).refresh_token);
  return ((await cpuMs()) - before) / count;
}
