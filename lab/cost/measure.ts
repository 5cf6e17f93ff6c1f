import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { UsageLine } from '@emissor/local-cloud/testing';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { sqsClientOf } from '../../tools/support/engines.ts';
import { demoOf, startLocalRun } from '../../tools/support/local-run.ts';
import { makeServiceClient, passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { accessLineBytes } from './access-line.ts';
import { assumptions } from './assumptions.ts';
import { type Action, type Counts, countSweeps, countUsage, middleOf, shareOf } from './counts.ts';

/**
 * Makes real requests to a local run and counts what they take. Its waits between attempts are a second each: what the sweeper does
 * for longer ones is not in these counts.
 *
 * @throws {BusyMachineError} where repetitions differ in what the functions did
 */
export async function measureActions(progress: (what: string) => void): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'emissor-cost-'));
  const usage = join(directory, 'usage.jsonl');
  const attempts = stageConfiguration('local').retrySchedule.length + 1;
  const schedule = Array(attempts - 1)
    .fill('1s')
    .join(',');
  const receiver = await startReceiver();
  const map = `${host}=http://127.0.0.1:${receiver.port}`;
  const run = await startLocalRun('--usage', usage, '--retry-schedule', schedule, '--map', map).catch(error => {
    receiver.stop();
    throw error;
  });
  const sqs = sqsClientOf(run.outputs);
  try {
    const { getTokens, callApi } = makeServiceClient(run.outputs);
    const { client, user } = demoOf(run.outputs);
    const logIn = () => getTokens(passwordGrant(client, user));
    let tokens = await logIn();
    const call = async (method: string, path: string, body: unknown, expected: number) => {
      const { status, text } = await callApi(method, path, { token: tokens.access_token, body });
      if (status !== expected) throw new Error(`${method} ${path}: ${status} ${text}`);
    };
    const register = (evento: EventName, path: string) =>
      call('POST', '/v1/webhooks', { evento, url: `https://${host}/${path}`, autorizacao: 'Bearer a-secret' }, 201);
    const publish = (event: EventName, count: number) => {
      const { EventsQueueUrl: QueueUrl, Demo } = run.outputs;
      const MessageBody = JSON.stringify({ id_conta: Demo.AccountId, event, ...businessEvents.exampleValues });
      const Entries = Array.from({ length: count }, (_, at) => ({
        Id: String(at),
        MessageBody,
        MessageGroupId: Demo.AccountId,
      }));
      return sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    };
    /** Counts an action once it left no further line for a while. */
    const count = async (act: () => Promise<unknown>, apiRequests: number, published = 0, posts = 0, quietMs = 600) => {
      await untilQuiet(usage, 600);
      const before = linesOf(usage).length;
      const came = receiver.received();
      await act();
      for (let waited = 0; receiver.received() - came < posts && waited < 90_000; waited += 50) await pause(50);
      if (receiver.received() - came < posts) throw new Error(`Only ${receiver.received() - came} attempts came.`);
      await untilQuiet(usage, quietMs);
      return countUsage(linesOf(usage).slice(before), { apiRequests, published, accessLineBytes: accessLineBytes() });
    };
    const several = async (what: string, times: number, once: () => Promise<Counts>) => {
      progress(what);
      const all: Counts[] = [];
      for (let time = 0; time <= times; time++) all.push(await once());
      return middleOf(what, all.slice(1)); // the first fills caches
    };

    const login = await several('login', 3, () => count(logIn, 1));
    const refresh = await several('refresh', 3, () =>
      count(async () => {
        tokens = await getTokens(refreshGrant(client, tokens.refresh_token));
      }, 1),
    );
    progress('registration');
    const registrations: [EventName, string][] = [
      ['demanda.criada', '200'],
      ['demanda.cancelada', 'long'],
      ['demanda.finalizada', 'empty'],
    ];
    const registered: Counts[] = [];
    for (const [event, path] of registrations) registered.push(await count(() => register(event, path), 1));
    const registration = middleOf('registration', registered);
    const test = await several('test', 3, () =>
      count(() => call('POST', '/v1/webhooks/demanda.criada/teste', undefined, 202), 1, 0, 1),
    );
    const publishQuick = (events: number) => count(() => publish('demanda.criada', events), 0, 1, events);
    const quiet = await several('a delivered event, alone', 3, () => publishQuick(1));
    const busy = await several('ten delivered events in a batch', 5, () => publishQuick(10));
    const exhaust = (event: EventName) => count(() => publish(event, 1), 0, 1, attempts);
    progress('an exhausted delivery, answers of 1 KiB');
    const exhausted = await exhaust('demanda.cancelada');
    progress('an exhausted delivery, empty answers');
    const exhaustedEmpty = await exhaust('demanda.finalizada');
    const withoutWebhook = await several('an event without a webhook', 3, () =>
      count(() => publish('reembolso.solicitado', 1), 0, 1),
    );
    const delivered = { quiet, busy: shareOf(busy, 10), exhausted, exhaustedEmpty };
    const all = { login, refresh, ...delivered, registration, test, withoutWebhook };
    progress('a sweep');
    for (let look = 0; look < 140 && !isSwept(linesOf(usage)); look++) await pause(500);
    await untilQuiet(usage, 600);
    return { actions: all, sweep: countSweeps(linesOf(usage)) };
  } finally {
    sqs.destroy();
    await run.stop();
    receiver.stop();
    rmSync(directory, { recursive: true });
  }
}

/** The counts of each action, and of one run of the sweeper. */
export interface Measured {
  readonly actions: Readonly<Record<Action, Counts>>;
  readonly sweep: Counts;
}

function isSwept(lines: readonly UsageLine[]): boolean {
  return lines.some(line => line.kind === 'invocation' && line.function.includes('Sweep'));
}

const host = 'cost.example.com';

const answers: Readonly<Record<string, readonly [status: number, body: string]>> = {
  '/200': [200, ''],
  '/long': [503, 'x'.repeat(1_024)],
  '/empty': [503, ''],
};

/** Starts a receiver that answers by the path, as late as receivers are taken to. */
async function startReceiver() {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      received += 1;
      const [status, body] = answers[request.url ?? ''] ?? [404, ''];
      setTimeout(() => response.writeHead(status).end(body), assumptions.receiverMs);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, received: () => received, stop };
}

function linesOf(file: string): UsageLine[] {
  const text = readFileSync(file, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n'))
    .split('\n')
    .map(line => JSON.parse(line));
}

/** Waits until functions have written no line for some milliseconds. Polls of triggers do not count: they never end. */
async function untilQuiet(file: string, milliseconds: number): Promise<void> {
  const countLines = () => linesOf(file).filter(line => line.kind !== 'request' || line.caller !== 'local').length;
  let [seen, since] = [countLines(), Date.now()];
  for (let look = 0; look < 600 && Date.now() - since < milliseconds; look++) {
    await pause(50);
    const now = countLines();
    if (now !== seen) [seen, since] = [now, Date.now()];
  }
}
