import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { TablesCommand } from '@emissor/virtual-cloud/dynamodb/tables';
import { composeToken } from '../../lambdas/auth/endpoints/token.composition.ts';
import { composeWebhooksApi } from '../../lambdas/base-api/webhooks-api.composition.ts';
import { type MeasuringTelemetry, makeDeliveryTelemetry } from '../../lambdas/delivery/telemetry.ts';
import type { Telemetry } from '../../lambdas/platform/telemetry.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { metricsNamespace, stageConfiguration } from '../../lib/config.ts';
import { audience, authEnvironment, issuer, startAuthService } from '../../test/support/auth-service.ts';
import { startDatabase } from '../../test/support/database/database.ts';
import { meterDatabase } from '../../test/support/database/metering.ts';
import { type DeliveryWorld, makeDeliveryWorld } from '../../test/support/delivery-world/delivery-world.ts';
import { httpRequest, type RequestDescription } from '../../test/support/http-request.ts';
import { answer } from '../../test/unit/delivery/builders.ts';
import { deadLetters, queueOf } from '../world/stage.ts';
import { assumptions } from './assumptions.ts';
import { type Action, type SteadyCounts, shareOf } from './counts.ts';

/** The usage of each action, of the first attempt of a delivery that fails, and of a sweep that finds nothing. */
export type QuickCounts = Readonly<Record<Action | 'failedAttempt' | 'sweep', SteadyCounts>>;

/**
 * Counts in one process, with clocks that are moved: no machine is too slow for it. Receivers answer as late as they are taken to: a
 * consumer that waits for one asks its queue for more.
 */
export async function countQuickly(): Promise<QuickCounts> {
  return { ...(await countRequests()), ...(await countDeliveries()) };
}

async function countRequests(): Promise<Pick<QuickCounts, 'login' | 'refresh' | 'registration'>> {
  const service = await startAuthService({
    random: () => 0.5, // of a user's logins one in twenty counts the sessions
    tables: ['Webhooks', 'Deliveries'],
  });
  try {
    const { id, secret } = await service.makeClient();
    const { username, password } = await service.makeUser();
    const telemetries = makeTelemetries();
    const environment = { ...authEnvironment, ...baseEnvironment };
    const outside = { ...service.outside, resolve: async () => ['93.184.215.14'] };
    const endpoints = {
      token: composeToken(environment, outside, telemetries.telemetryOf('token')),
      webhooks: composeWebhooksApi(environment, outside, telemetries.telemetryOf('webhooks')),
    };
    const take = meterDatabase(service.database);
    const count = async (name: keyof typeof endpoints, request: RequestDescription) => {
      let body = '';
      take();
      const lines = await linesOf(async () => {
        const answered = await endpoints[name](httpRequest({ method: 'POST', ...request }));
        body = answered?.body ?? '';
        telemetries.ended(name);
      });
      const { calls, read, write } = take();
      const ofStore = { storeCalls: calls, readUnits: read, writeUnits: write };
      const counts = { invocations: 1, ...ofStore, queueRequests: 0, fairQueueRequests: 0, ...logOf(lines) };
      return { counts, answer: JSON.parse(body) };
    };
    const ask = (form: Record<string, string>) =>
      count('token', {
        path: '/oauth/v1/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ ...form, client_id: id, client_secret: secret }).toString(),
      });
    const logIn = () => ask({ grant_type: 'password', username, password });
    await logIn(); // fills the cache of the keyring
    const { counts: login, answer } = await logIn();
    const { counts: refresh } = await ask({ grant_type: 'refresh_token', refresh_token: answer.refresh_token });
    const register = (evento: EventName) => {
      const body = { evento, url: 'https://receiver.example.com/', autorizacao: 'Bearer a-secret' };
      const headers = { authorization: `Bearer ${answer.access_token}`, 'content-type': 'application/json' };
      return count('webhooks', { path: '/v1/webhooks', headers, body: JSON.stringify(body) });
    };
    await register('demanda.criada');
    const { counts: registration } = await register('demanda.cancelada');
    return { login, refresh, registration };
  } finally {
    await service.stop();
  }
}

const baseEnvironment = {
  webhooksTable: 'Webhooks',
  deliveriesTable: 'Deliveries',
  authorizationServers: [issuer],
  audiences: [audience],
  ownHosts: [] as string[],
  docsUrl: undefined,
} as const;

/** As long as all ids are that the gateway gives requests. */
const gatewayRequestId = 'JKJaXmPLvHcESHA=';

/** Makes the telemetry of functions by their names, as they are deployed. */
function makeTelemetries() {
  const telemetries = new Map<string, Telemetry & MeasuringTelemetry>();
  return { telemetryOf, ended };

  function telemetryOf(name: string): Telemetry & MeasuringTelemetry {
    const isConsumer = Object.hasOwn(queueOf, name);
    const own = name === 'api' ? 'history' : name; // the world's name for it
    const [service, countedAs] = isConsumer ? [`deliver-${name}`, 'delivery'] : [own, own];
    const made = telemetries.get(name) ?? makeDeliveryTelemetry(service, countedAs);
    const isBehindApi = !isConsumer && name !== 'sweep';
    made.beginInvocation({ awsRequestId: randomUUID() }, isBehindApi ? gatewayRequestId : undefined);
    telemetries.set(name, made);
    return made;
  }

  /** Writes the metrics of an invocation, as the middleware of its handler does. */
  function ended(name: string): void {
    telemetries.get(name)?.metrics.publishStoredMetrics();
  }
}

/** Returns the lines that functions write while something is done. */
async function linesOf(act: () => Promise<unknown>): Promise<readonly string[]> {
  const lines: string[] = [];
  const { stdout } = process;
  const { write } = stdout;
  Object.assign(stdout, {
    write: (text: string) => lines.push(text.trimEnd().replace('default_namespace', namespace)),
  });
  try {
    await act();
  } finally {
    Object.assign(stdout, { write });
  }
  return lines;
}

/** The functions of this process have none in their environment. */
const namespace = metricsNamespace({ stage: 'prod' });

function logOf(lines: readonly string[]): Pick<SteadyCounts, 'logLines' | 'logBytes'> {
  return { logLines: lines.length, logBytes: lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0) };
}

async function countDeliveries(): Promise<Omit<QuickCounts, 'login' | 'refresh' | 'registration'>> {
  const { retrySchedule } = stageConfiguration('local');
  const attempts = retrySchedule.length + 1;

  return {
    quiet: await countFirst([200]),
    busy: shareOf(await countFirst(Array(batch).fill(200)), batch),
    failedAttempt: await countFirst([503]),
    exhausted: await countExhausted('x'.repeat(1_024)),
    exhaustedEmpty: await countExhausted(''),
    test: await countTest(),
    withoutWebhook: await countWithoutWebhook(),
    sweep: await countSweep(),
  };

  /** Counts first attempts in one batch. */
  async function countFirst(statuses: readonly number[]): Promise<SteadyCounts> {
    const world = await begin('demanda.criada', statuses.length);
    answerLate(world, statuses);
    return countIn(world, 1, () => world.stepBatch('first', batch));
  }

  /** Counts all attempts of the schedule, and the sweeper's part in them. */
  async function countExhausted(body: string): Promise<SteadyCounts> {
    // What a failing webhook is announced by is its own: there is no more of it where more deliveries fail.
    const suspended = await begin();
    answerLate(suspended, [410]);
    await linesOf(() => suspended.step('first'));
    const announcement = await countIn(suspended, 0, () => suspended.sweep());
    const world = await begin();
    answerLate(world, Array(attempts).fill(503), body);
    const counts = await countIn(world, 1, () => world.settle());
    const times = world.announced.length;
    return {
      ...counts,
      storeCalls: counts.storeCalls - times * announcement.storeCalls,
      readUnits: counts.readUnits - times * announcement.readUnits,
      writeUnits: counts.writeUnits - times * announcement.writeUnits,
    };
  }

  /** Counts the second test in a minute. */
  async function countTest(): Promise<SteadyCounts> {
    const world = await begin('demanda.criada', 0);
    const test = async () => {
      answerLate(world, [200]);
      await world.request('POST', '/v1/webhooks/demanda.criada/teste');
      await world.settle();
    };
    await linesOf(test);
    const counts = await countIn(world, 0, test);
    return { ...counts, invocations: counts.invocations + 1 };
  }

  /** Leaves out what a process writes once an hour. */
  async function countWithoutWebhook(): Promise<SteadyCounts> {
    const world = await begin('demanda.cancelada');
    const counts = await countIn(world, 1, () => world.step('first'));
    return { ...counts, storeCalls: counts.storeCalls - 1, writeUnits: counts.writeUnits - 1 };
  }

  /** Counts the second sweep of a stage where nothing is due. */
  async function countSweep(): Promise<SteadyCounts> {
    const world = await begin('demanda.criada', 0);
    await linesOf(() => world.sweep());
    return { ...(await countIn(world, 0, () => world.sweep(), true)), invocations: 1 };
  }

  /** Makes a world with a webhook for `demanda.criada`, and publishes events. */
  async function begin(event: EventName = 'demanda.criada', events = 1): Promise<DeliveryWorld> {
    const world = makeDeliveryWorld(retrySchedule, makeTelemetries());
    await world.register();
    for (let number = 1; number <= events; number++) world.publish({ id_conta: 'conta-1', event, id_demanda: number });
    return world;
  }
}

/** As many as one receive brings. */
const batch = 10;

function answerLate({ answers }: DeliveryWorld, statuses: readonly number[], body = ''): void {
  answers.push(...statuses.map(status => ({ ...answer(status, {}, body), takesMs: assumptions.receiverMs })));
}

/**
 * Counts what something takes in a world, the requests of the triggers among it. What it asks of the tables is asked of a database that
 * begins with the same items.
 *
 * @param published - requests by which the publisher sent the events
 */
async function countIn(
  world: DeliveryWorld,
  published: number,
  act: () => Promise<unknown>,
  isSweep = false,
): Promise<SteadyCounts> {
  const database = await startDatabase(...tables);
  try {
    for (const TableName of tables) {
      for (const Item of world.tables.items(TableName)) await database.dynamo(new PutCommand({ TableName, Item }));
    }
    const commands: TablesCommand<object>[] = [];
    world.intercept((command, next) => {
      commands.push(command);
      return next(command);
    });
    for (const earlier of [world.batches, world.queueRequests, world.callerReads]) earlier.length = 0;
    const lines = await linesOf(act);
    const take = meterDatabase(database, isSweep);
    const client: Client = database.client;
    for (const command of [...world.callerReads, ...commands]) await client.send(command).catch(() => undefined); // some conditions do not hold
    const { calls, read, write } = take();
    const ofFunctions = world.queueRequests.filter(queue => queue !== deadLetters.queue); // the sweeper looks there once an hour
    const requests = [...world.batches, ...world.batches, ...ofFunctions]; // a trigger receives a batch, and deletes it
    return {
      invocations: world.batches.length,
      storeCalls: calls,
      readUnits: read,
      writeUnits: write,
      queueRequests: published + requests.length,
      fairQueueRequests: published + requests.filter(queue => queue === queueOf.first).length,
      ...logOf(lines.filter(line => isSweep || !line.includes('"service":"sweep"'))),
    };
  } finally {
    await database.stop();
  }
}

const tables = ['Clients', 'Users', 'Sessions', 'Deliveries', 'Webhooks'] as const;

interface Client {
  send(command: TablesCommand<object>): Promise<object>;
}
