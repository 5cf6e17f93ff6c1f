import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { EventName } from '../webhooks/webhook.ts';
import type { Delivery, DeliveryState } from './delivery.ts';
import { listShardsOf } from './delivery-item.ts';
import type { DeliveryStore } from './delivery-store.ts';

/** Entries that one page looks at: a rare state is then found over several pages, not in one long request. */
const longestLook = 400;

/** Which deliveries of a webhook are asked for. */
interface HistoryQuery {
  readonly accountId: string;
  readonly evento: EventName;
  /** Deliveries in this state only. */
  readonly state?: DeliveryState | undefined;
  /** Deliveries of events that were accepted from then on. Milliseconds since the epoch. */
  readonly from?: number | undefined;
  /** Deliveries of events that were accepted before then. */
  readonly before?: number | undefined;
  /** Changes what a delivery is taken for before its state is looked at. */
  readonly as?: (delivery: Delivery) => Delivery;
  /** How many at most; 1 to 100. */
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

/** A page of the history, newest first. It may hold fewer than asked for, and still have a `next`. */
interface HistoryPage {
  readonly deliveries: readonly Delivery[];
  readonly next: string | undefined;
}

/** Reads a page of the history of an account's deliveries for an event. */
export type ReadHistory = (query: HistoryQuery) => Promise<HistoryPage>;

/** What the history is read from. */
export interface DeliveryHistoryDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Deliveries`. */
  readonly table: string;
  readonly store: Pick<DeliveryStore, 'read'>;
}

const iso = (moment: number): string => new Date(moment).toISOString();

interface Entry {
  readonly id: string;
  readonly listKey: string;
}

/**
 * Makes the reader of the history over index `byWebhook`. Its keys never change, so that pages neither repeat nor skip a
 * delivery, whatever is written between them.
 */
export const makeReadHistory = ({ documents, table, store }: DeliveryHistoryDependencies): ReadHistory => {
  const readShard = async (shard: string, limit: number, from: string, to: string): Promise<Entry[]> => {
    const answer = await documents.send(
      new QueryCommand({
        TableName: table,
        IndexName: 'byWebhook',
        KeyConditionExpression: 'listShard = :shard AND listKey BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':shard': shard, ':from': from, ':to': to },
        ScanIndexForward: false,
        Limit: limit,
      }),
    );
    return (answer.Items ?? []) as unknown as Entry[];
  };

  /**
   * The next entries over all shards: the newest `limit` of the newest of each. One more of each tells if there are more,
   * and one may be the entry to go on after, since a range of keys takes in both its ends.
   */
  const readEntries = async (query: HistoryQuery, after: string | undefined) => {
    const { accountId, evento, limit, from, before } = query;
    const first = from === undefined ? '' : iso(from); // a key is longer than its time, and so comes after that
    const ends = [after, before === undefined ? undefined : iso(before)].filter(end => end !== undefined);
    const last = ends.toSorted()[0] ?? '~';
    if (first > last) return { entries: [], hasMore: false };
    const shards = listShardsOf(accountId, evento).map(shard => readShard(shard, limit + 2, first || '-', last));
    const found = (await Promise.all(shards)).flat().filter(({ listKey }) => listKey !== after);
    const entries = found.toSorted((one, other) => (one.listKey < other.listKey ? 1 : -1));
    return { entries: entries.slice(0, limit), hasMore: entries.length > limit };
  };

  return async query => {
    const { state, limit, as = (delivery: Delivery) => delivery } = query;
    const deliveries: Delivery[] = [];
    let next = query.after;
    for (let looked = 0; looked < longestLook; ) {
      const { entries, hasMore } = await readEntries(query, next);
      looked += entries.length;
      const read = new Map((await store.read(entries.map(({ id }) => id))).map(found => [found.id, found]));
      for (const [at, { id, listKey }] of entries.entries()) {
        const found = read.get(id);
        const delivery = found && as(found);
        next = listKey;
        if (!delivery || (state && delivery.state !== state)) continue;
        deliveries.push(delivery);
        if (deliveries.length < limit) continue;
        return { deliveries, next: hasMore || at < entries.length - 1 ? next : undefined };
      }
      if (!hasMore) return { deliveries, next: undefined };
    }
    return { deliveries, next };
  };
};
