import { hash } from 'node:crypto';
import type { Item } from '../../platform/aws/dynamo.ts';
import { isoTime } from '../../platform/clock.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import type { Delivery, DeliveryState } from '../delivery.ts';
import { packAttempt, unpackAttempt } from './attempt-records.ts';
import { headPart } from './head-key.ts';

/** The retention of a delivery or a replay after its end, in milliseconds. */
export const historyRetention = 30 * 24 * 60 * 60_000;

/**
 * The partitions of the `due` index, which the sweeper reads every minute. Each accepts 1,000 writes per second, so four are enough for 1,000
 * failed events per second from all accounts together.
 */
export const dueShards: readonly string[] = ['0', '1', '2', '3'];

/** Returns the sort key of the `due` index. It consists of the sweeper's check time and the id, so it is unique. */
export function dueKey(sweepAt: number, id: string): string {
  return `${isoTime(sweepAt)}#${id}`;
}

/** Returns a key that is greater than every key (`dueAt`, `listKey`) up to a time, and smaller than every later key. */
export function keysUntil(moment: number): string {
  return `${isoTime(moment)}#~`;
}

/** The partition of the `due` index for running replays. It is separate, so a backlog of deliveries does not delay replays. */
export const replayShard = 'replays';

/** Returns the attributes that place a running replay in the `due` index at `sweepAt`. */
export function replayAttributes(id: string, sweepAt: number): Item {
  return {
    dueShard: replayShard,
    dueAt: dueKey(sweepAt, id),
  };
}

/** Returns the time at which an item that became final at `settledAt` expires, in seconds since the epoch. */
export function cleanUpAt(settledAt: number): number {
  return Math.ceil(settledAt / 1_000) + historyRetention / 1_000;
}

/** Returns the partition of the `byWebhook` index that contains a webhook's `delivered` deliveries, or its other deliveries. */
export function listShardOf(accountId: string, eventName: string, isDelivered: boolean): string {
  return `${accountId}#${eventName}#${isDelivered ? 'delivered' : 'undelivered'}`;
}

/** The states in the `undelivered` index, which are all states except `delivered`. */
export type UndeliveredState = Exclude<DeliveryState, 'delivered'>;

/** Returns the partition of the `undelivered` index that contains the deliveries of a webhook in a state. */
export function stateShardOf(accountId: string, eventName: string, state: UndeliveredState): string {
  return `${accountId}#${eventName}#${state}`;
}

/** Returns a delivery's position in the index lists. */
function listKeyOf({ createdAt, id }: Pick<Delivery, 'createdAt' | 'id'>): string {
  return `${isoTime(createdAt)}#${id}`;
}

/** Returns the account, the event name and the state for a partition of the `undelivered` index. */
export function contentsOfStateShard(shard: string) {
  const [accountId = '', eventName, state] = shard.split('#');
  return { accountId, eventName: eventName as EventName, state: state as UndeliveredState };
}

/**
 * Returns the head item of a delivery. It may contain the response to the latest attempt (`response-item.ts`), but no other response. Empty
 * attributes are omitted, because a head must be under 1 KB.
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

/** Returns the attributes of a delivery that only the indexes and the expiry need. */
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

function hashOf(id: string): number {
  return hash('sha256', id, 'buffer').readUInt32BE();
}

/** Returns the attributes that place a delivery in the `due` index at `sweepAt`. */
function dueAttributes(id: string, sweepAt: number): Item {
  return {
    dueShard: dueShards[hashOf(id) % dueShards.length],
    dueAt: dueKey(sweepAt, id),
  };
}
