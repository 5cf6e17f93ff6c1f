import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleHandler } from '../../lib/constructs/bundle.ts';
import { demoOf, startLocalRun } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant } from '../../tools/support/service-client.ts';
import { median } from '../../tools/support/statistics.ts';
import { tokenEnvironment } from './comparison.ts';
import { batchesOf, batchSize } from './consumer.ts';
import { host, startDeliveryTestbed } from './delivery-testbed.ts';
import type { ServerMessage } from './measured-server.ts';

/** The first work of fresh processes, in milliseconds: medians. */
export interface FreshResult {
  /** From a batch's being handed over to a function without a process to its being acknowledged. */
  readonly firstBatch: Contestants;
  /** From the request to its answer, in a process whose code is loaded, with stores that answer 5 ms late. */
  readonly firstLoginMs: number;
}

interface Contestants {
  readonly ours: number;
  readonly plain: number;
  readonly ratio: number;
}

/** Measures fresh processes, `runs` of each, in turn. */
export async function measureFresh(runs: number, progress: (what: string) => void): Promise<FreshResult> {
  progress('the first batch');
  const firstBatch = await measureFirstBatch(runs);
  progress('the first login, stores 5 ms away');
  return { firstBatch, firstLoginMs: await measureFirstLogin(runs) };
}

async function measureFirstBatch(runs: number): Promise<Contestants> {
  const testbed = await startDeliveryTestbed();
  try {
    const { getTokens, register } = makeServiceClient(testbed.outputs);
    const { client, user } = demoOf(testbed.outputs);
    const { access_token: token } = await getTokens(passwordGrant(client, user));
    const evento = 'demanda.criada';
    await register(token, { evento, url: `https://${host}/2`, autorizacao: 'Bearer the-receivers-own-secret' });
    const makeBatch = batchesOf(testbed.outputs, Array<typeof evento>(batchSize).fill(evento));
    const times = { ours: [] as number[], plain: [] as number[] };
    for (let run = 0; run < runs; run++) {
      for (const what of run % 2 === 0 ? (['ours', 'plain'] as const) : (['plain', 'ours'] as const)) {
        const consumer = testbed.begin(what, 'emulated');
        times[what].push(...(await consumer.consume(1, makeBatch)).times);
        consumer.end();
      }
    }
    const ratios = times.ours.map((time, at) => time / (times.plain[at] ?? Number.NaN));
    return { ours: median(times.ours), plain: median(times.plain), ratio: median(ratios) };
  } finally {
    await testbed.stop();
  }
}

async function measureFirstLogin(runs: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'emissor-bench-'));
  const run = await startLocalRun();
  const { outputs } = run;
  const [dynamoDb, kms] = [await startDelay(outputs.DynamoDbEndpoint), await startDelay(outputs.KmsEndpoint)];
  try {
    const bundle = join(directory, 'index.mjs');
    bundleHandler('lambdas/auth/endpoints/token.handler.ts', bundle);
    const environment = {
      ...tokenEnvironment(outputs),
      AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
      AWS_ENDPOINT_URL_KMS: kms.endpoint,
    };
    const { client, user } = demoOf(outputs);
    const form = new URLSearchParams(passwordGrant(client, user));
    const times: number[] = [];
    for (let count = 0; count < runs; count++) times.push(await firstLogin(bundle, environment, form));
    return median(times);
  } finally {
    for (const { stop } of [dynamoDb, kms]) stop();
    await run.stop();
    rmSync(directory, { recursive: true });
  }
}

async function firstLogin(bundle: string, environment: Record<string, string>, body: URLSearchParams): Promise<number> {
  const child = fork(join(import.meta.dirname, 'emissor-server.ts'), [bundle], {
    env: { NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const [message] = (await once(child, 'message')) as [ServerMessage];
    if (!('port' in message)) throw new Error('The token function did not say where it listens.');
    const start = performance.now();
    const response = await fetch(`http://127.0.0.1:${message.port}/oauth/v1/token`, { method: 'POST', body });
    await response.text();
    if (!response.ok) throw new Error(`The first login was answered with ${response.status}.`);
    return performance.now() - start;
  } finally {
    child.disconnect();
  }
}

/** Starts a proxy of an endpoint that passes on each piece of an answer 5 ms late. */
async function startDelay(endpoint: string) {
  const { hostname, port } = new URL(endpoint);
  const server = createServer(near => {
    near.setNoDelay(true);
    const far = connect({ host: hostname, port: Number(port), noDelay: true });
    near.pipe(far);
    far.on('data', piece => void setTimeout(() => near.writable && near.write(piece), 5));
    far.on('close', () => void setTimeout(() => near.destroy(), 10));
    near.on('close', () => far.destroy());
    for (const socket of [near, far]) socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => void server.close() };
}
