import { hash } from 'node:crypto';
import type { Item } from '../../platform/aws/dynamo.ts';
import { isoTime } from '../../platform/clock.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import type { Delivery, DeliveryState } from '../delivery.ts';
import { packAttempt, unpackAttempt } from './attempt-records.ts';
import { headPart } from './head-key.ts';

/** A delivery, and a replay, is kept for this long after its end. */
export const historyKept = 30 * 24 * 60 * 60_000;

/**
 * The partitions of index `due`, all of which the sweeper reads every minute. Each takes 1,000 writes a second: four are enough if
 * 1,000 events a second fail, of all accounts together.
 */
export const dueShards: readonly string[] = ['0', '1', '2', '3'];

/** Returns the range key of index `due`: it sorts by when the sweeper looks, and ends in the id, since equal keys could hide each other. */
export function dueKey(sweepAt: number, id: string): string {
  return `${isoTime(sweepAt)}#${id}`;
}

/** Greater than every key (`dueAt`, `listKey`) up to that moment, and smaller than every later one. */
export function keysUntil(moment: number): string {
  return `${isoTime(moment)}#~`;
}

/** The partition of index `due` for running replays: deliveries, however many, do not hide them. */
export const replayShard = 'replays';

/** Returns the place of a running replay in index `due`: the sweeper finds it from that moment on. */
export function replayAttributes(id: string, sweepAt: number): Item {
  return {
    dueShard: replayShard,
    dueAt: dueKey(sweepAt, id),
  };
}

/** Returns the moment, in seconds since the epoch, from which an item that was final at `settledAt` may be cleaned up. */
export function cleanUpAt(settledAt: number): number {
  return Math.ceil(settledAt / 1_000) + historyKept / 1_000;
}

/** Returns the partition of index `byWebhook` that holds one webhook's delivered deliveries, or all its others. */
export function listShardOf(accountId: string, eventName: string, isDelivered: boolean): string {
  return `${accountId}#${eventName}#${isDelivered ? 'delivered' : 'undelivered'}`;
}

/** The states in index `undelivered`: all but `delivered`. */
export type UndeliveredState = Exclude<DeliveryState, 'delivered'>;

/** Returns the partition of index `undelivered` that holds one webhook's deliveries in a state. */
export function stateShardOf(accountId: string, eventName: string, state: UndeliveredState): string {
  return `${accountId}#${eventName}#${state}`;
}

/** Returns the place of a delivery in the lists of the indexes. */
function listKeyOf({ createdAt, id }: Pick<Delivery, 'createdAt' | 'id'>): string {
  return `${isoTime(createdAt)}#${id}`;
}

/** Returns the account, the event name and the state of the deliveries in a partition of index `undelivered`. */
export function contentsOfStateShard(shard: string) {
  const [accountId = '', eventName, state] = shard.split('#');
  return { accountId, eventName: eventName as EventName, state: state as UndeliveredState };
}

/**
 * Returns the stored form of a delivery: its head. Of the answers it holds the latest attempt's at most (`answer-item.ts`). What is
 * undefined here is not stored: each attribute counts, because a head is to stay under 1 KB.
 */
export function itemFromDelivery(delivery: Delivery): Item {
  const { wait, attempts, createdAt, scheduledAt, internalErrors, ...rest } = delivery;
  return {
    ...rest,
    ...wait,
    part: headPart,
    attempts: attempts.map(record => packAttempt(record, createdAt)),
    response: attempts.at(-1)?.response || undefined,
    createdAt,
    scheduledAt: scheduledAt === createdAt ? undefined : scheduledAt,
    internalErrors: internalErrors || undefined,
    overdueCount: wait?.overdueCount || undefined,
    ...derivedAttributes(delivery),
  };
}

export function deliveryFromItem(item: Item): Delivery {
  const {
    part,
    attempts,
    response,
    dueShard,
    dueAt,
    listShard,
    listKey,
    stateShard,
    ttl,
    nextAttemptAt,
    sweepAt,
    overdueCount = 0,
    claimedUntil,
    createdAt,
    scheduledAt = createdAt,
    internalErrors = 0,
    ...rest
  } = item;
  // biome-ignore lint/plugin/unchecked-assertions: only this file writes such items, and parsing them would slow each attempt down.
  return {
    ...rest,
    createdAt,
    scheduledAt,
    internalErrors,
    attempts: (attempts as string[]).map(record => unpackAttempt(record, Number(createdAt), String(response))),
    wait: rest.state === 'pending' ? { nextAttemptAt, sweepAt, overdueCount, claimedUntil } : undefined,
  } as unknown as Delivery;
}

/** Returns the attributes of a delivery that only the indexes and the clean-up need. */
function derivedAttributes(delivery: Delivery): Item {
  const { id, accountId, eventName, state, settledAt, wait } = delivery;
  return {
    listShard: listShardOf(accountId, eventName, state === 'delivered'),
    listKey: listKeyOf(delivery),
    ...(state !== 'delivered' && { stateShard: stateShardOf(accountId, eventName, state) }),
    ...(wait && dueAttributes(id, wait.sweepAt)),
    ...(settledAt !== undefined && { ttl: cleanUpAt(settledAt) }),
  };
}

/** Returns a stable number for an id, spread evenly. */
function hashOf(id: string): number {
  return hash('sha256', id, 'buffer').readUInt32BE();
}

/** Returns the place of an item in index `due`: found by the sweeper from that moment on. */
function dueAttributes(id: string, sweepAt: number): Item {
  return {
    dueShard: dueShards[hashOf(id) % dueShards.length],
    dueAt: dueKey(sweepAt, id),
  };
}
