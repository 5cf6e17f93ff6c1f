import { createHash } from 'node:crypto';
import type { Item } from '../platform/dynamodb.ts';
import type { Delivery, Wait } from './delivery.ts';

/** The partitions of index `due`, all of which the sweeper reads every minute. */
export const dueShards: readonly string[] = Array.from({ length: 16 }, (_, shard) => String(shard));

/** The partitions each webhook has in index `byWebhook`: 1,000 index writes a second each. */
const listShardCount = 8;

/** A stable number for an id, spread evenly. */
const hashOf = (id: string): number => createHash('sha256').update(id).digest().readUInt32BE();

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** The range key of index `due`: it sorts by time, and ends in the id because equal keys could hide each other. */
export const dueKey = (lookAt: number, id: string): string => `${isoTime(lookAt)}#${id}`;

/** Greater than every `dueKey` up to that moment, and smaller than every later one. */
export const dueUntil = (moment: number): string => `${isoTime(moment)}#~`;

/** The partitions of index `byWebhook` that one webhook's deliveries are spread over. */
export const listShardsOf = (accountId: string, evento: string): readonly string[] =>
  Array.from({ length: listShardCount }, (_, shard) => `${accountId}#${evento}#${shard}`);

/** The attributes of a delivery that only the indexes and the clean-up need. */
const derivedAttributes = (delivery: Delivery, historyDays: number): Item => {
  const { id, accountId, evento, createdAt, wait, settledAt } = delivery;
  const listShards = listShardsOf(accountId, evento);
  return {
    listShard: listShards[hashOf(id) % listShardCount],
    listKey: `${isoTime(createdAt)}#${id}`,
    ...(wait && { dueShard: dueShards[hashOf(id) % dueShards.length], dueAt: dueKey(wait.lookAt, id) }),
    ...(settledAt !== undefined && { ttl: Math.ceil(settledAt / 1_000) + historyDays * 24 * 60 * 60 }),
  };
};

/** The stored form of a delivery. */
export const itemFromDelivery = ({ wait, ...delivery }: Delivery, historyDays: number): Item => ({
  ...delivery,
  ...wait,
  ...derivedAttributes({ ...delivery, ...(wait && { wait }) }, historyDays),
});

/** The delivery a stored item stands for. */
export const deliveryFromItem = (item: Item): Delivery => {
  const { dueShard, dueAt, listShard, listKey, ttl, nextAttemptAt, lookAt, pickups, ...delivery } = item;
  const wait = delivery.state === 'pendente' && ({ nextAttemptAt, lookAt, pickups } as Wait);
  return { ...delivery, ...(wait && { wait }) } as unknown as Delivery;
};
