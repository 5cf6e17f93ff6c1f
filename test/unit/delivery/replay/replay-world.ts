import { type Delivery, type DeliveryState, settled } from '../../../../lambdas/delivery/delivery.ts';
import { wireStates } from '../../../../lambdas/delivery/representation.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { putAll } from '../../../support/database/put-all.ts';
import type { Answered, Sent } from '../../../support/delivery-world/requests.ts';
import type { Stall } from '../../../support/delivery-world/stepped-cloud.ts';
import { world } from '../../../support/delivery-world/use-delivery-world.ts';
import { aDelivery } from '../builders.ts';

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
  const noon = world.now();
  const made = Array.from({ length: count }, (_, number) => {
    const id = `evt_${state.slice(0, 4)}${String(number).padStart(23, '0')}`;
    const createdAt = noon + number * 1_000;
    return settled(aDelivery({ id, createdAt, scheduledAt: createdAt, attempt: 5, ...changes }), state, createdAt + 1);
  });
  const items = made.map(delivery => itemFromDelivery(delivery));
  await putAll(world.dynamo, 'Deliveries', items);
  await world.pass(count * 1_000 + 1);
  return made;
};

/** Stands still at the write after this many. */
export const afterWrites = (writes: number, hasEffect: boolean): Stall => {
  let left = writes;
  return { isHere: () => left-- === 0, hasEffect };
};

/** Stands still just before it stores that it sends the n-th delivery again: 1 for the first. */
export const beforeRestart = (number: number): Stall => {
  let left = number;
  return { isHere: isRestart => isRestart && --left === 0, hasEffect: false };
};

/** Stands still at the write after it has stored that it sends this many deliveries again: they are not saved as sent. */
export const afterRestarts = (number: number): Stall => {
  let left = number;
  return { isHere: isRestart => (isRestart ? left-- === 0 : left === 0), hasEffect: false };
};

/** A start writes the replay, its count, and the slots that it reserves. */
export const beforeReservation = afterWrites(2, false);
export const beforeRestarts = afterWrites(2, true);

/** The moments for which replays sent deliveries again. What is handed over to the slow lane was sent again before. */
export const slots = (): number[] =>
  world.puts
    .filter(({ state, replayId, slowLane }) => state === 'pending' && replayId && slowLane === undefined)
    .map(({ nextAttemptAt }) => Number(nextAttemptAt));

/** The ids of the replays that began, in order. */
export const begun = (): string[] => world.puts.filter(item => 'startedAt' in item).map(item => String(item.replayId));

/** The shortest time between two slots, in milliseconds: 100 or more is ten a second at most. */
export const shortestGap = (): number => {
  const inOrder = slots().toSorted((one, other) => one - other);
  return Math.min(...inOrder.slice(1).map((slot, at) => slot - (inOrder[at] ?? Number.NaN)));
};

export const day = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T23:00:00Z' };
export const start = (state: 'failed' | 'held' = 'failed', changes: object = {}) =>
  request('POST', path, { body: { ...day, estado: wireStates[state], ...changes } });
export const show = async (id: string) => (await request('GET', `${path}/${id}`)).json;
