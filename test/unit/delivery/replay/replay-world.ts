import { type Delivery, type DeliveryState, settled } from '../../../../lambdas/delivery/delivery.ts';
import { wireStates } from '../../../../lambdas/delivery/representation.ts';
import { itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { putAll } from '../../../support/database/put-all.ts';
import type { Answered, Sent } from '../../../support/delivery-world/requests.ts';
import type { Stall } from '../../../support/delivery-world/stepped-cloud.ts';
import { world } from '../../../support/delivery-world/use-delivery-world.ts';
import { aDelivery } from '../builders.ts';

export const path = '/v1/webhooks/demanda.criada/reenvios';
export const minute = 60_000;
export const hour = 60 * minute;
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

/** Stands still before it restarts the n-th delivery: 1 for the first. */
export const beforeRestart = (number: number): Stall => {
  let left = number;
  return { isHere: isRestart => isRestart && --left === 0, hasEffect: false };
};

/** The due times of the deliveries that replays have restarted. */
export const dueTimes = (): number[] =>
  world.puts
    .filter(({ state, settledAt }) => state === 'pending' && settledAt === undefined)
    .map(({ nextAttemptAt }) => Number(nextAttemptAt))
    .toSorted((one, other) => one - other);

/** Passes minutes, each with a sweep. No message is received. */
export const sweepMinutes = async (minutes: number) => {
  for (let passed = 0; passed < minutes; passed++) {
    await world.pass(minute);
    await world.sweep();
  }
};

export const day = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T23:00:00Z' };
export const start = (state: 'failed' | 'held' = 'failed', changes: object = {}) =>
  request('POST', path, { body: { ...day, estado: wireStates[state], ...changes } });
export const show = async (id: string) => (await request('GET', `${path}/${id}`)).json;
