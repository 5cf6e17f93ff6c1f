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

/** What the history stands on. */
export interface DeliveryHistoryDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Deliveries`. */
  readonly table: string;
  readonly store: Pick<DeliveryStore, 'read'>;
}

interface Entry {
  readonly id: string;
  readonly listKey: string;
}

/**
 * Makes the reader of the history over index `byWebhook`. Its keys never change, so that pages neither repeat nor skip a
 * delivery, whatever is written between them.
 */
export const makeReadHistory = ({ documents, table, store }: DeliveryHistoryDependencies): ReadHistory => {
  const readShard = async (shard: string, limit: number, after: string | undefined): Promise<Entry[]> => {
    const answer = await documents.send(
      new QueryCommand({
        TableName: table,
        IndexName: 'byWebhook',
        KeyConditionExpression: `listShard = :shard${after === undefined ? '' : ' AND listKey < :after'}`,
        ExpressionAttributeValues: { ':shard': shard, ...(after !== undefined && { ':after': after }) },
        ScanIndexForward: false,
        Limit: limit,
      }),
    );
    return (answer.Items ?? []) as unknown as Entry[];
  };

  /** The next entries over all shards: the newest `limit` of the newest of each; one more of each tells if there are more. */
  const readEntries = async ({ accountId, evento, limit }: HistoryQuery, after: string | undefined) => {
    const shards = await Promise.all(listShardsOf(accountId, evento).map(shard => readShard(shard, limit + 1, after)));
    const entries = shards.flat().toSorted((one, other) => (one.listKey < other.listKey ? 1 : -1));
    return { entries: entries.slice(0, limit), hasMore: entries.length > limit };
  };

  return async query => {
    const { state, limit } = query;
    const deliveries: Delivery[] = [];
    let next = query.after;
    for (let looked = 0; looked < longestLook; ) {
      const { entries, hasMore } = await readEntries(query, next);
      looked += entries.length;
      const read = new Map((await store.read(entries.map(({ id }) => id))).map(found => [found.id, found]));
      for (const [at, { id, listKey }] of entries.entries()) {
        const delivery = read.get(id);
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
