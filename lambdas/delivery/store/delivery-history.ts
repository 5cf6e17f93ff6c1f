import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { StoreParts } from '../../platform/aws/dynamo.ts';
import { isoTime } from '../../platform/clock.ts';
import type { EventName, Webhook } from '../../webhooks/webhook.ts';
import type { Delivery, DeliveryState } from '../delivery.ts';
import { toDisplayed } from '../representation.ts';
import { listShardOf, stateShardOf, type UndeliveredState } from './delivery-item.ts';
import type { DeliveryStore } from './delivery-store.ts';

/** Reads a page of an account's delivery history for an event. */
export type ReadHistory = (query: HistoryQuery) => Promise<HistoryPage>;

/**
 * Creates a function that reads the history from the indexes `byWebhook` and `undelivered`. The position of a delivery in a list never
 * changes, but a change of state moves it to another list. Pages therefore neither repeat nor skip an unchanged delivery.
 *
 * A page takes one call per partition (1 or 2), and 1 or 2 calls to read the items, because the indexes lag. The reader omits a delivery that
 * no longer exists or has another state.
 */
export function makeReadHistory({
  dynamo,
  table,
  store,
}: Omit<StoreParts, 'now'> & { readonly store: Pick<DeliveryStore, 'read'> }): ReadHistory {
  return async function readHistory(query) {
    const { entries, isAll } = merge(await Promise.all(shardsOf(query).map(shard => readShard(shard, query))), query);
    const { limit } = query;
    const deliveries: Delivery[] = [];
    let seen = 0;
    for (const batchSize of [limit, replacementBatch]) {
      if (deliveries.length === limit) break;
      const batch = entries.slice(seen, seen + batchSize);
      const read = new Map((await store.read(batch.map(({ id }) => id))).map(delivery => [delivery.id, delivery]));
      for (const { id } of batch) {
        if (deliveries.length === limit) break;
        seen++;
        const delivery = matching(read.get(id), query);
        if (delivery) deliveries.push(delivery);
      }
    }
    const isLastPage = isAll && seen === entries.length;
    return { deliveries, next: isLastPage ? undefined : entries[seen - 1]?.listKey };
  };

  async function readShard({ index, shard, first, last }: Shard, { limit }: HistoryQuery): Promise<ShardPage> {
    const output = await dynamo(
      new QueryCommand({
        TableName: table,
        IndexName: index,
        KeyConditionExpression: '#shard = :shard AND listKey BETWEEN :first AND :last',
        ExpressionAttributeNames: { '#shard': partitionKeys[index] },
        ExpressionAttributeValues: { ':shard': shard, ':first': first, ':last': last },
        ScanIndexForward: false,
        Limit: limit + extraEntries,
      }),
    );
    const entries = (output.Items ?? []).map(({ id, listKey }) => ({ id: String(id), listKey: String(listKey) }));
    return { entries, isAll: !output.LastEvaluatedKey };
  }
}

/** Selects deliveries of a webhook. */
interface HistoryQuery {
  readonly accountId: string;
  readonly eventName: EventName;
  /** Limits the result to deliveries in this state. */
  readonly state?: DeliveryState | undefined;
  /** Limits the result to events that were accepted at or after this time, in milliseconds since the epoch. */
  readonly from?: number | undefined;
  /** Limits the result to events that were accepted before this time, in milliseconds since the epoch. */
  readonly before?: number | undefined;
  /**
   * The current registration, or `null` if there is none. Pending deliveries of other registrations are shown as cancelled. If omitted,
   * states are shown as stored.
   */
  readonly registration?: Pick<Webhook, 'webhookId' | 'createdAt'> | null;
  /** The maximum number of deliveries, from 1 to 100. */
  readonly limit: number;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

/** A page of the history, newest first. It may have fewer deliveries than the limit and still have a `next`. */
interface HistoryPage {
  readonly deliveries: readonly Delivery[];
  readonly next: string | undefined;
}

/** Merges the entries of all partitions without duplicates, newest first. Stops at the point to which every partition was read. */
function merge(pages: readonly ShardPage[], { after }: HistoryQuery): ShardPage {
  const lastKeys = pages.map(({ entries, isAll }) => (isAll ? '' : (entries.at(-1)?.listKey ?? '')));
  const end = lastKeys.toSorted().at(-1) ?? '';
  // A delivery that is changing its state may be in two partitions.
  const byKey = new Map(pages.flatMap(({ entries }) => entries).map(entry => [entry.listKey, entry]));
  const candidates = [...byKey.values()].filter(({ listKey }) => listKey >= end && listKey !== after);
  const entries = candidates.toSorted((one, other) => (one.listKey < other.listKey ? 1 : -1));
  return { entries, isAll: pages.every(({ isAll }) => isAll) };
}

/** Returns the partitions and the ranges that a query must read. */
function shardsOf(query: HistoryQuery): Shard[] {
  const { accountId, eventName, state, registration } = query;
  const listed = (isDelivered: boolean) => inRange(query, 'byWebhook', listShardOf(accountId, eventName, isDelivered));
  const undelivered = (undeliveredState: UndeliveredState, narrowed: HistoryQuery = query) =>
    inRange(narrowed, 'undelivered', stateShardOf(accountId, eventName, undeliveredState));

  if (state === undefined) return [...listed(true), ...listed(false)];
  if (state === 'delivered') return listed(true);
  if (registration === undefined || (state !== 'pending' && state !== 'cancelled')) return undelivered(state);
  // Events of the current registration were accepted after its creation, and events of earlier registrations before it.
  const { from = Number.NEGATIVE_INFINITY, before = Number.POSITIVE_INFINITY } = query;
  if (state === 'pending') {
    if (registration === null) return [];
    return undelivered('pending', { ...query, from: Math.max(from, registration.createdAt - clockTolerance) });
  }
  const end = registration === null ? before : Math.min(before, registration.createdAt + clockTolerance);
  return [
    ...undelivered('cancelled'),
    ...undelivered('pending', { ...query, before: Number.isFinite(end) ? end : undefined }),
  ];
}

/** The maximum number of deliveries to read as replacements for deliveries that do not match. */
const replacementBatch = 100;

/** Returns a delivery as the API returns it, or `undefined` if the delivery does not match the query. */
function matching(stored: Delivery | undefined, { state, registration }: HistoryQuery): Delivery | undefined {
  const delivery = stored && registration !== undefined ? toDisplayed(registration?.webhookId)(stored) : stored;
  return state === undefined || delivery?.state === state ? delivery : undefined;
}

/** A non-empty range of positions in a partition of an index, including both ends. */
interface Shard {
  readonly index: keyof typeof partitionKeys;
  readonly shard: string;
  readonly first: string;
  readonly last: string;
}

interface ShardPage {
  readonly entries: readonly Entry[];
  /** True if there are no further entries. */
  readonly isAll: boolean;
}

const partitionKeys = { byWebhook: 'listShard', undelivered: 'stateShard' } as const;

/** The number of entries to read beyond the limit, per partition. One shows that there are more. The others replace deleted deliveries. */
const extraEntries = 4;

interface Entry {
  readonly id: string;
  readonly listKey: string;
}

/** Returns the range of positions in a partition, or an empty list if the range is empty. */
function inRange({ from, before, after }: HistoryQuery, index: Shard['index'], shard: string): Shard[] {
  const first = from === undefined ? '-' : isoTime(from); // a position starts with its time and sorts after it
  const ends = [after, before === undefined ? undefined : isoTime(before)].filter(end => end !== undefined);
  const last = ends.toSorted()[0] ?? '~';
  return first > last ? [] : [{ index, shard, first, last }];
}

/** The maximum difference between the clocks that accept events and the clocks that register webhooks, in milliseconds. */
const clockTolerance = 60_000;
