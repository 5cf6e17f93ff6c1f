import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { TablesCommand } from '@emissor/virtual-cloud/dynamodb/tables';
import { stageConfiguration } from '../../lib/config.ts';
import { answer } from '../unit/delivery/builders.ts';
import { startAuthService } from './auth-service.ts';
import { startDatabase } from './database/database.ts';
import { meterDatabase, type StoreCounts } from './database/metering.ts';
import { type DeliveryWorld, makeDeliveryWorld } from './delivery-world/delivery-world.ts';

/** The requests that are counted in one process, by DynamoDB's calls and units alone. */
export type QuickCounts = Readonly<Record<(typeof countedActions)[number], StoreCounts>>;

const countedActions = [
  'login',
  'refresh',
  'firstAttempt',
  'failedAttempt',
  'exhaustedOneKibibyte',
  'exhaustedEmpty',
] as const;

/** Counts the calls and units of the store, over a test database, with clocks that stand still. */
export async function countQuickly(): Promise<QuickCounts> {
  return { ...(await countTokens()), ...(await countDeliveries()) };
}

async function countTokens(): Promise<Pick<QuickCounts, 'login' | 'refresh'>> {
  const service = await startAuthService({ random: () => 0.5 }); // of a user's logins one in twenty counts the sessions
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
    return { login, refresh: take() };
  } finally {
    await service.stop();
  }
}

async function countDeliveries(): Promise<Omit<QuickCounts, 'login' | 'refresh'>> {
  const { retrySchedule } = stageConfiguration('local');
  const begin = async (...statuses: number[]) => {
    const world = makeDeliveryWorld(retrySchedule);
    await world.register();
    world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7 });
    world.answers.push(...statuses.map(status => answer(status)));
    return world;
  };
  const first = await begin();
  const failing = await begin(503);
  // What a failing webhook is announced by is its own: there is no more of it where more deliveries fail.
  const suspended = await begin(410);
  await suspended.step('first');
  const announcement = await countIn(suspended, () => suspended.sweep());

  const exhaust = async (body: string) => {
    const world = await begin();
    for (let attempt = 0; attempt <= retrySchedule.length; attempt++) world.answers.push(answer(503, {}, body));
    const counts = await countIn(world, () => world.settle());
    return without(counts, announcement, world.announced.length);
  };
  return {
    firstAttempt: await countIn(first, () => first.step('first')),
    failedAttempt: await countIn(failing, () => failing.step('first')),
    exhaustedOneKibibyte: await exhaust('x'.repeat(1_024)),
    exhaustedEmpty: await exhaust(''),
  };
}

/** Counts what something asks of the tables of a world: the same is asked of a database that begins with the same items. */
async function countIn(world: DeliveryWorld, act: () => Promise<unknown>): Promise<StoreCounts> {
  const database = await startDatabase('Deliveries', 'Webhooks');
  try {
    for (const TableName of ['Deliveries', 'Webhooks']) {
      for (const Item of world.tables.items(TableName)) await database.dynamo(new PutCommand({ TableName, Item }));
    }
    const commands: TablesCommand<object>[] = [];
    world.intercept((command, next) => {
      commands.push(command);
      return next(command);
    });
    await act();
    const take = meterDatabase(database);
    const client: Client = database.client;
    for (const command of commands) await client.send(command).catch(() => undefined); // some conditions do not hold
    return take();
  } finally {
    await database.stop();
  }
}

interface Client {
  send(command: TablesCommand<object>): Promise<object>;
}

function without(counts: StoreCounts, one: StoreCounts, times: number): StoreCounts {
  return {
    calls: counts.calls - times * one.calls,
    read: counts.read - times * one.read,
    write: counts.write - times * one.write,
  };
}
