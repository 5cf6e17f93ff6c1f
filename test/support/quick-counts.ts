import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { TablesCommand } from '@emissor/virtual-cloud/dynamodb/tables';
import { assumptions } from '../../lab/cost/assumptions.ts';
import { type Action, type SteadyCounts, shareOf } from '../../lab/cost/counts.ts';
import { deadLetters, queueOf } from '../../lab/world/stage.ts';
import { composeWebhooksApi } from '../../lambdas/base-api/webhooks-api.composition.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { stageConfiguration } from '../../lib/config.ts';
import { answer } from '../unit/delivery/builders.ts';
import { audience, authEnvironment, issuer, startAuthService } from './auth-service.ts';
import { startDatabase } from './database/database.ts';
import { meterDatabase, type StoreCounts } from './database/metering.ts';
import { type DeliveryWorld, makeDeliveryWorld } from './delivery-world/delivery-world.ts';
import { httpRequest } from './http-request.ts';

/** What each action takes, and the first attempt of a delivery that fails. */
export type QuickCounts = Readonly<Record<Action | 'failedAttempt', SteadyCounts>>;

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
    const credentials = { client_id: id, client_secret: secret };
    const logIn = () => service.post('token', { grant_type: 'password', ...credentials, username, password });
    await logIn(); // fills the cache of the keyring
    const take = meterDatabase(service.database);
    const { json } = await logIn();
    const login = take();
    await service.post('token', { grant_type: 'refresh_token', ...credentials, refresh_token: json.refresh_token });
    const refresh = take();
    const answerRequest = composeWebhooksApi(
      { ...authEnvironment, ...baseEnvironment },
      { ...service.outside, resolve: async () => ['93.184.215.14'] },
      service.telemetry,
    );
    const register = (evento: EventName) => {
      const body = { evento, url: 'https://receiver.example.com/', autorizacao: 'Bearer a-secret' };
      const headers = { authorization: `Bearer ${json.access_token}`, 'content-type': 'application/json' };
      return answerRequest(httpRequest({ method: 'POST', path: '/v1/webhooks', headers, body: JSON.stringify(body) }));
    };
    await register('demanda.criada');
    take();
    await register('demanda.cancelada');
    return { login: ofRequest(login), refresh: ofRequest(refresh), registration: ofRequest(take()) };
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

function ofRequest({ calls, read, write }: StoreCounts): SteadyCounts {
  const ofStore = { storeCalls: calls, readUnits: read, writeUnits: write };
  return { invocations: 1, ...ofStore, queueRequests: 0, fairQueueRequests: 0 };
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
    await suspended.step('first');
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
    await test();
    const counts = await countIn(world, 0, test);
    return { ...counts, invocations: counts.invocations + 1 };
  }

  /** Leaves out what a process writes once an hour. */
  async function countWithoutWebhook(): Promise<SteadyCounts> {
    const world = await begin('demanda.cancelada');
    const counts = await countIn(world, 1, () => world.step('first'));
    return { ...counts, storeCalls: counts.storeCalls - 1, writeUnits: counts.writeUnits - 1 };
  }

  /** Makes a world with a webhook for `demanda.criada`, and publishes events. */
  async function begin(event: EventName = 'demanda.criada', events = 1): Promise<DeliveryWorld> {
    const world = makeDeliveryWorld(retrySchedule);
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
async function countIn(world: DeliveryWorld, published: number, act: () => Promise<unknown>): Promise<SteadyCounts> {
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
    await act();
    const take = meterDatabase(database);
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
    };
  } finally {
    await database.stop();
  }
}

const tables = ['Clients', 'Users', 'Sessions', 'Deliveries', 'Webhooks'] as const;

interface Client {
  send(command: TablesCommand<object>): Promise<object>;
}
