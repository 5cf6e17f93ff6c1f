import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Delivery, type DeliveryState, settled } from '../../../../lambdas/delivery/delivery.ts';
import { wireStates } from '../../../../lambdas/delivery/representation.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { aDelivery } from '../builders.ts';
import { type Answered, type Sent, simulate } from '../simulation.ts';
import { afterWrites, watchWorkers } from './replay-workers.ts';

/** The store of the suite that uses it. */
export let database: Database;
/** The processes that work on replays. */
export let watched: ReturnType<typeof watchWorkers>;
/** Delivery, with an active webhook. */
export let world: Awaited<ReturnType<typeof simulate>>;

/** Has a world of its own made for each test of the suite. */
export const useReplayWorld = (): void => {
  beforeAll(async () => {
    database = await startDatabase('Deliveries', 'Webhooks');
  });
  afterAll(() => database.stop());
  beforeEach(async () => {
    watched = watchWorkers(database);
    world = await simulate(watched.database);
    await world.register();
  }, 30_000); // a test before may have left hundreds of deliveries to be deleted
};

export const path = '/v1/webhooks/demanda.criada/reenvios';
export const hour = 3_600_000;
export const iso = (moment: number) => new Date(moment).toISOString();

export const request = async (method: string, at: string, sent: Sent = {}): Promise<Answered> => {
  const answered = await world.request(method, at, sent);
  if (!answered) throw new Error('no answer');
  return answered;
};
export const codeOf = ({ status, json }: Answered) => `${status} ${json?.code}`;

/** Stores ended deliveries, one accepted each second from noon, and returns them oldest first. */
export const fill = async (
  count: number,
  state: Exclude<DeliveryState, 'pending'>,
  changes: Partial<Delivery> = {},
) => {
  const noon = world.clock.now();
  const made = Array.from({ length: count }, (_, number) => {
    const id = `evt_${state.slice(0, 4)}${String(number).padStart(23, '0')}`;
    const createdAt = noon + number * 1_000;
    return settled(aDelivery({ id, createdAt, scheduledAt: createdAt, attempt: 5, ...changes }), state, createdAt + 1);
  });
  for (let first = 0; first < count; first += 25) {
    const puts = made
      .slice(first, first + 25)
      .map(delivery => ({ PutRequest: { Item: itemFromDelivery(delivery, 30) } }));
    await database.dynamo(new BatchWriteCommand({ RequestItems: { Deliveries: puts } }));
  }
  world.clock.advance(count * 1_000 + 1);
  return made;
};

/** A start writes the replay, its count, and the slots that it reserves. */
export const beforeReservation = afterWrites(2, false);
export const beforeRestarts = afterWrites(2, true);

export const day = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T23:00:00Z' };
export const start = (state: 'failed' | 'held' = 'failed', changes: object = {}) =>
  request('POST', path, { body: { ...day, estado: wireStates[state], ...changes } });
export const show = async (id: string) => (await request('GET', `${path}/${id}`)).json;
