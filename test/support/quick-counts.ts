import { stageConfiguration } from '../../lib/config.ts';
import { answer } from '../unit/delivery/builders.ts';
import { simulate } from '../unit/delivery/simulation.ts';
import { startAuthService } from './auth-service.ts';
import { startDatabase } from './database/database.ts';
import { meterDatabase, type StoreCounts } from './database/metering.ts';

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
  const database = await startDatabase('Deliveries', 'Webhooks');
  try {
    const take = meterDatabase(database);
    const { retrySchedule } = stageConfiguration('local');
    const begin = async () => {
      const world = await simulate(database, retrySchedule);
      await world.register();
      world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7 });
      return world;
    };
    const first = await begin();
    take();
    await first.deliverNext();
    const firstAttempt = take();

    const failing = await begin();
    failing.answers.push(answer(503));
    take();
    await failing.deliverNext();
    const failedAttempt = take();

    // What a failing webhook is announced by is its own: there is no more of it where more deliveries fail.
    const suspended = await begin();
    suspended.answers.push(answer(410));
    await suspended.deliverNext();
    take();
    await suspended.sweep();
    const announcement = take();

    const exhaust = async (body: string) => {
      const world = await begin();
      for (let attempt = 0; attempt <= retrySchedule.length; attempt++) world.answers.push(answer(503, {}, body));
      take();
      await world.settle();
      return without(take(), announcement, world.announced.length);
    };
    return {
      firstAttempt,
      failedAttempt,
      exhaustedOneKibibyte: await exhaust('x'.repeat(1_024)),
      exhaustedEmpty: await exhaust(''),
    };
  } finally {
    await database.stop();
  }
}

function without(counts: StoreCounts, one: StoreCounts, times: number): StoreCounts {
  return {
    calls: counts.calls - times * one.calls,
    read: counts.read - times * one.read,
    write: counts.write - times * one.write,
  };
}
