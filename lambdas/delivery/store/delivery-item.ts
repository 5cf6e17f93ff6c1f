import { hash } from 'node:crypto';
import type { Item } from '../../platform/aws/dynamo.ts';
import { isoTime } from '../../platform/clock.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import type { Delivery, DeliveryState, Wait } from '../delivery.ts';
import { historyKept } from '../limits.ts';
import { packAttempt, unpackAttempt } from './attempt-records.ts';
import { headPart } from './head-key.ts';

/** The partitions of index `due`, all of which the sweeper reads every minute. */
export const dueShards: readonly string[] = Array.from({ length: 16 }, (_, shard) => String(shard));

/** Returns the range key of index `due`: it sorts by when the sweeper looks, and ends in the id, since equal keys could hide each other. */
export function dueKey(sweepAt: number, id: string): string {
  return `${isoTime(sweepAt)}#${id}`;
}

/** Greater than every key (`dueAt`, `listKey`) up to that moment, and smaller than every later one. */
export function keysUntil(moment: number): string {
  return `${isoTime(moment)}#~`;
}

/** The partition of index `due` for the sweeper's tasks: deliveries, however many, do not hide them. */
export const taskShard = 'tasks';

/** Returns the place of a task of the sweeper in index `due`: the sweeper finds it from that moment on. */
export function taskAttributes(id: string, sweepAt: number): Item {
  return {
    dueShard: taskShard,
    dueAt: dueKey(sweepAt, id),
  };
}

/** Returns the moment, in seconds since the epoch, from which an item that was final at `settledAt` may be cleaned up. */
export function cleanUpAt(settledAt: number): number {
  return Math.ceil(settledAt / 1_000) + historyKept / 1_000;
}

/** Returns the partitions of index `byWebhook` that hold one webhook's delivered deliveries, or all its others. */
export function listShardsOf(accountId: string, eventName: string, isDelivered: boolean): readonly string[] {
  return shardsOf(accountId, eventName, isDelivered ? 'delivered' : 'undelivered');
}

/** The states in index `undelivered`: all but `delivered`. */
export type UndeliveredState = Exclude<DeliveryState, 'delivered'>;

/** Returns the partitions of index `undelivered` that hold one webhook's deliveries in a state. */
export function stateShardsOf(accountId: string, eventName: string, state: UndeliveredState): readonly string[] {
  return shardsOf(accountId, eventName, state);
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
 * The partitions of index `due` in which deliveries stand that wait for a slot of their slow webhook, in the order in which
 * they were due. The sweeper reads them only for the task that the webhook's slowness is (`slow-backlog.ts`).
 */
export function backlogShardsOf(accountId: string, eventName: string): readonly string[] {
  return shardsOf('backlog', accountId, eventName);
}

/**
 * Returns the stored form of a delivery: its head. Of the answers it holds the latest attempt's at most (`answer-item.ts`). What is
 * undefined here is not stored: each attribute counts where a head is to stay under 1 KB.
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
    slowLane,
    movedBy,
    moverId,
    slotSeries,
    turnAt,
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
    wait:
      rest.state === 'pending'
        ? {
            nextAttemptAt,
            sweepAt,
            overdueCount,
            slowLane,
            movedBy,
            moverId,
            slotSeries,
            claimedUntil,
            turnAt,
          }
        : undefined,
  } as unknown as Delivery;
}

/**
 * Returns an item that is copied back from a restored table. A delivery that waited for a slot of its slow webhook is due without one: only
 * the webhook's task looks for what waits, and may have ended meanwhile. The consumer that gets it has it wait anew.
 */
export function dueWithoutSlot(item: Item): Item {
  const { slowLane, ...head } = item;
  if (slowLane !== 'waiting') return item;
  return { ...head, ...dueAttributes(String(head.id), Number(head.sweepAt)) };
}

function shardsOf(...names: string[]): readonly string[] {
  return Array.from({ length: shardCount }, (_, shard) => [...names, shard].join('#'));
}

/** The partitions over which an index spreads what belongs together of a webhook: 1,000 index writes a second each. */
const shardCount = 8;

/** Returns the attributes of a delivery that only the indexes and the clean-up need. */
function derivedAttributes(delivery: Delivery): Item {
  const { id, accountId, eventName, state, settledAt, wait } = delivery;
  const sweepAt = nextSweep(delivery);
  const shard = hashOf(id) % shardCount;
  return {
    listShard: listShardsOf(accountId, eventName, state === 'delivered')[shard],
    listKey: listKeyOf(delivery),
    ...(state !== 'delivered' && { stateShard: stateShardsOf(accountId, eventName, state)[shard] }),
    ...(sweepAt !== undefined && dueAttributes(id, sweepAt)),
    ...(wait?.slowLane === 'waiting' && backlogAttributes(delivery, wait)),
    ...(settledAt !== undefined && { ttl: cleanUpAt(settledAt) }),
  };
}

/** Returns the moment when the sweeper looks at a delivery: at `sweepAt`, or, while it is held, at its end. */
function nextSweep({ state, wait, settledAt }: Delivery): number | undefined {
  if (state !== 'held' || settledAt === undefined) return wait?.sweepAt;
  return cleanUpAt(settledAt) * 1_000 - countedBefore;
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

/** Returns the place of a delivery in index `due` while it waits for a slot. */
function backlogAttributes({ id, accountId, eventName }: Delivery, { nextAttemptAt }: Wait): Item {
  return {
    dueShard: backlogShardsOf(accountId, eventName)[hashOf(id) % shardCount],
    dueAt: dueKey(nextAttemptAt, id),
  };
}

/** So long before a held delivery may be cleaned up the sweeper counts it as expired. Milliseconds. */
const countedBefore = 3_600_000;
