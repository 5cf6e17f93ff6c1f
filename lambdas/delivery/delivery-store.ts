import { setTimeout } from 'node:timers/promises';
import {
  type DynamoDBDocumentClient,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { ReadItems } from '../platform/batched-reads.ts';
import type { Clock } from '../platform/clock.ts';
import {
  batchGetLimit,
  type Item,
  type ItemKey,
  isConditionFailed,
  isUnavailable,
  readTogether,
  wasRepeated,
} from '../platform/dynamo.ts';
import type { Delivery, Wait, WaitingDelivery } from './delivery.ts';
import { deliveryFromItem, dueKey, itemFromDelivery, keysUntil } from './delivery-item.ts';

/*
 * Table `Deliveries`: partition key `id` (`evt_…`), one item per event that had a webhook, its attempts in a list within.
 *
 * Index `due` (dueShard, dueAt = `<time>#<id>`) holds the pending deliveries, and the held ones, whose expiry is counted an
 * hour before they are cleaned up. Its time is when the sweeper must look at the delivery, which is how each attempt's
 * message is sent once:
 *   - a wait of up to 15 min: the message is sent, delayed, with the outcome before it. The sweeper looks 2 min after
 *     it was due, and finds nothing unless that message, or the process sending it, was lost;
 *   - a longer wait: nothing is sent. The sweeper looks 1 min before it is due, and sends the message with the rest of
 *     the delay. It first moves the look to 2 min after the due time, by a conditional update, which is its claim:
 *     of two sweepers one sends, and what is lost between claim and sending is found at the next look.
 * An overdue delivery's look moves on by 4, 8, 16 … min, so that a backlog is not multiplied. What stands in the slow queue
 * is overdue after 30 min only. What waits for a turn of its slow webhook has no message and stands in partitions of its
 * webhook's own, which the sweeper reads for the task that the slowness is (`slow-backlog.ts`).
 *
 * Two indexes list the history, both by listKey = `<acceptance>#<id>`, which never changes, and each over eight partitions,
 * which keep a busy webhook below what one takes:
 *   - `byWebhook` (listShard = `<accountId>#<eventName>#<delivered or undelivered>#<n>`): all deliveries;
 *   - `undelivered` (stateShard = `<accountId>#<eventName>#<state>#<n>`): those that are not `delivered`, by state. It is sparse:
 *     what the first attempt delivers, as nearly all, is written to `byWebhook` alone (ADR 13).
 *
 * Only final states have a `ttl` (seconds). It merely cleans up: an item past it is treated as gone here.
 * Every write of an outcome is conditional on the attempt it is the outcome of.
 *
 * Beside deliveries the table holds what belongs to a webhook's deliveries, under ids that begin with its kind and `#`:
 * `reenvios` (replays, `replay-store.ts`), `limit` (counts of tests and resends, `request-limits.ts`), `slowness`
 * (`slowness-store.ts`). Index `due` holds the tasks of the sweeper among them.
 */

/** What the sweeper finds in the index: to be read before it is acted on, since the index lags. */
export interface DueEntry {
  readonly id: string;
  readonly dueShard: string;
  readonly dueAt: string;
}

/** Deliveries as the consumers and the sweeper use them. All reads are consistent but for the index. */
export interface DeliveryStore {
  /** Reads a delivery together with other items, in one round trip. */
  readWith(id: string, others: readonly ItemKey[]): Promise<[Delivery | undefined, ...(Item | undefined)[]]>;
  /** Reads up to 100 deliveries; those that are not there are left out. */
  read(ids: readonly string[]): Promise<Delivery[]>;
  /** Stores a first attempt's outcome. False: a copy of the event was quicker, nothing is changed. */
  create(delivery: Delivery): Promise<boolean>;
  /** Stores a later attempt's outcome. False: that attempt's outcome is stored already, nothing is changed. */
  update(before: Delivery, after: Delivery): Promise<boolean>;
  /** Claims a pending delivery for the sweeper and moves its next look. False: another sweeper or attempt was quicker. */
  claim(delivery: Delivery & { readonly wait: Wait }, next: Wait): Promise<boolean>;
  /** Takes a held delivery that expires out of index `due`. False: it was sent again, or somebody else was quicker. */
  expire(entry: DueEntry): Promise<boolean>;
  /** The deliveries that have waited longest for a turn of their slow webhook; whether those are all. */
  waitingForSlot(shards: readonly string[], most: number): Promise<{ deliveries: WaitingDelivery[]; isAll: boolean }>;
  /** The entries of a shard that the sweeper must look at by now, the oldest first: a page of those after one. */
  due(shard: string, after?: DueEntry): Promise<DueEntry[]>;
}

/** What the store needs. */
export interface DeliveryStoreDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
  /** How long deliveries are kept after their final state. */
  readonly historyDays: number;
  /** How long an outcome is tried to be stored where the store does not answer, in milliseconds: by default one call. */
  readonly patience?: number;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
  /** Reads for `readWith`; by default each reading is a call of its own. */
  readonly readItems?: ReadItems;
}

/** Makes the store of table `Deliveries`. */
export function makeDeliveryStore(dependencies: DeliveryStoreDependencies): DeliveryStore {
  const { dynamo, table, now, historyDays, patience = 0, pause = setTimeout } = dependencies;
  const { readItems = addresses => readTogether(dynamo, addresses) } = dependencies;
  const nowInSeconds = () => Math.floor(now() / 1_000);
  const address = (id: string) => ({ table, key: { id } });

  const alive = (item: Item | undefined): Delivery | undefined =>
    item && !(typeof item.ttl === 'number' && item.ttl <= nowInSeconds()) ? deliveryFromItem(item) : undefined;

  const whether = async (write: Promise<unknown>): Promise<boolean> => {
    try {
      await write;
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

  /** Whether what stands in the table is what was to be written. */
  const isThere = async (item: Item): Promise<boolean> => {
    const [stored] = await readTogether(dynamo, [address(String(item.id))]);
    // Asked for here: importing it costs every cold start more milliseconds than most of the bundle.
    const { isDeepStrictEqual } = process.getBuiltinModule('node:util');
    return isDeepStrictEqual(stored, JSON.parse(JSON.stringify(item)));
  };

  /**
   * Stores an outcome where a condition holds. An outcome that is not stored is a second POST: a write without an answer is
   * repeated, and one that was repeated and is refused then may have met its own first try.
   */
  const put = async (delivery: Delivery, condition: Pick<PutCommandInput, ConditionParts>): Promise<boolean> => {
    const item = itemFromDelivery(delivery, historyDays);
    const begun = now();
    for (let wait = shortestPause; ; wait *= 2) {
      try {
        await dynamo.send(new PutCommand({ TableName: table, Item: item, ...condition }));
        return true;
      } catch (error) {
        const isFirst = wait === shortestPause;
        if (isConditionFailed(error)) return isFirst && !wasRepeated(error) ? false : isThere(item);
        if (!isUnavailable(error) || now() - begun + wait > patience) throw error;
        await pause(wait);
      }
    }
  };

  const longestWaiting = async (shard: string, limit: number): Promise<{ ids: string[]; isAll: boolean }> => {
    const answer = await dynamo.send(
      new QueryCommand({
        TableName: table,
        IndexName: 'due',
        KeyConditionExpression: 'dueShard = :shard',
        ExpressionAttributeValues: { ':shard': shard },
        Limit: limit,
      }),
    );
    return { ids: (answer.Items ?? []).map(({ id }) => String(id)), isAll: !answer.LastEvaluatedKey };
  };

  return {
    readWith: async (id, others) => {
      const [delivery, ...items] = await readItems([address(id), ...others]);
      return [alive(delivery), ...items];
    },

    read: async ids => {
      const items = await readTogether(dynamo, [...new Set(ids)].map(address));
      return items.map(alive).filter(delivery => delivery !== undefined);
    },

    create: delivery =>
      put(delivery, {
        ConditionExpression: 'attribute_not_exists(id) OR #ttl <= :now',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':now': nowInSeconds() },
      }),

    update: (before, after) =>
      put(after, {
        ConditionExpression: '#state = :state AND attempt = :attempt',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':state': before.state, ':attempt': before.attempt },
      }),

    claim: ({ id, wait, attempt }, next) =>
      whether(
        dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { id },
            UpdateExpression: 'SET dueAt = :next, sweepAt = :sweepAt, overdueCount = :overdueCount',
            ConditionExpression: 'dueAt = :seen AND attempt = :attempt',
            ExpressionAttributeValues: {
              ':next': dueKey(next.sweepAt, id),
              ':sweepAt': next.sweepAt,
              ':overdueCount': next.overdueCount,
              ':seen': dueKey(wait.sweepAt, id),
              ':attempt': attempt,
            },
          }),
        ),
      ),

    expire: ({ id, dueAt }) =>
      whether(
        dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { id },
            UpdateExpression: 'REMOVE dueShard, dueAt',
            ConditionExpression: 'dueAt = :seen AND #state = :held',
            ExpressionAttributeNames: { '#state': 'state' },
            ExpressionAttributeValues: { ':seen': dueAt, ':held': 'held' },
          }),
        ),
      ),

    waitingForSlot: async (shards, most) => {
      if (most <= 0) return { deliveries: [], isAll: false };
      const limit = Math.ceil(most / shards.length) + backlogSlack;
      const pages = await Promise.all(shards.map(shard => longestWaiting(shard, limit)));
      const ids = pages.flatMap(page => page.ids);
      const chunks = Array.from({ length: Math.ceil(ids.length / batchGetLimit) }, (_, index) =>
        ids.slice(index * batchGetLimit, (index + 1) * batchGetLimit),
      );
      const items = (await Promise.all(chunks.map(chunk => readTogether(dynamo, chunk.map(address))))).flat();
      const waiting = items.map(alive).filter(isWaitingForSlot);
      waiting.sort((one, other) => one.wait.nextAttemptAt - other.wait.nextAttemptAt);
      const isAll = pages.every(page => page.isAll) && waiting.length <= most;
      return { deliveries: waiting.slice(0, most), isAll };
    },

    due: async (shard, after) => {
      const answer = await dynamo.send(
        new QueryCommand({
          TableName: table,
          IndexName: 'due',
          KeyConditionExpression: 'dueShard = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': shard, ':now': keysUntil(now()) },
          Limit: duePage,
          ...(after && { ExclusiveStartKey: { ...after } }),
        }),
      );
      return (answer.Items ?? []) as unknown as DueEntry[];
    },
  };
}

type ConditionParts = 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues';

/** Before a write without an answer is repeated, in milliseconds; doubling. */
const shortestPause = 100;

/** Beyond a shard's share of the longest waiting, since they are spread by chance. */
const backlogSlack = 25;

function isWaitingForSlot(delivery: Delivery | undefined): delivery is WaitingDelivery {
  return delivery?.wait?.slowLane === 'waiting';
}

/** Entries that the sweeper reads at a time and shard. */
const duePage = 25;
