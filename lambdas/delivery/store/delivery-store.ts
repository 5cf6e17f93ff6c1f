import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet, batchGetLimit, type ReadItems } from '../../platform/aws/batch-get.ts';
import {
  type Dynamo,
  type Item,
  type ItemKey,
  isAsWritten,
  isConditionFailed,
  isUnavailable,
  wasRepeated,
} from '../../platform/aws/dynamo.ts';
import { type EarlierInsert, makeInsertTogether } from '../../platform/aws/insert-together.ts';
import { conditionOf, type Expression, expression, updateItem } from '../../platform/aws/update-item.ts';
import { isoTime } from '../../platform/clock.ts';
import type { Time } from '../../platform/timer.ts';
import type { Delivery, Wait, WaitingDelivery } from '../delivery.ts';
import { partAnswers } from './answer-item.ts';
import { cleanUpAt, deliveryFromItem, dueKey, itemFromDelivery, keysUntil } from './delivery-item.ts';
import { headKey } from './head-key.ts';

/*
 * Table `Deliveries`: partition key `id` (`evt_…`; `teste_…` of a test), sort key `part`. Each test and each event that had a
 * webhook has one item `head`, with the records of its latest attempts in compact form (`attempt-records.ts`), and beside it
 * the answers of its receiver, an item each (`answer-item.ts`). The head is under 1 KB with ten records, for it is written anew
 * with each attempt (ADR 27). Its conditional write is the only commit.
 *
 * Index `due` (dueShard, dueAt = `<time>#<id>`) holds the pending deliveries, and the held ones, whose expiry is counted an
 * hour before they are cleaned up. Its time is `sweepAt`, when the sweeper looks at the delivery; the attempt itself is due at
 * `nextAttemptAt`. So each attempt's message is sent once, and none is lost (at least once):
 *   - a wait of up to 15 min: the message is sent, delayed, once the outcome before it is stored. The sweeper looks 2 min
 *     after it was due, and finds nothing unless that message, or the process sending it, was lost;
 *   - a longer wait: nothing is sent. The sweeper looks 1 min before it is due, and sends the message with the rest of
 *     the delay. It first sets `claimedUntil` to 2 min after the due time, by a conditional update, which is its claim: of two
 *     sweepers one sends, and what is lost between claim and sending is found then. The entry stays where it is meanwhile:
 *     to move it would cost two units, and it is read in vain for three minutes at most.
 * An overdue delivery is sent again after 4, 8, 16 … min, so that a backlog is not multiplied. The first ones of a partition keep
 * their place in the index meanwhile, with `claimedUntil` set, so that each sweep sees how late they are. Of the others `sweepAt`
 * moves on: however many there are, a sweep reads few of them in vain. What stands in the slow queue is overdue after 5 min, and
 * then each 30; so is what was stored as standing there by a process that died before it sent the message. What waits for a slot
 * of its slow webhook has no message. It stands in partitions
 * of its webhook, which the sweeper reads for that webhook's due task (`slow-backlog.ts`).
 *
 * Two indexes list the history, both by listKey = `<acceptance>#<id>`, which never changes, and each over eight partitions,
 * which keep a busy webhook below what one takes:
 *   - `byWebhook` (listShard = `<accountId>#<eventName>#<delivered or undelivered>#<n>`): all deliveries;
 *   - `undelivered` (stateShard = `<accountId>#<eventName>#<state>#<n>`): those that are not `delivered`, by state. It is
 *     sparse: nearly all deliveries succeed at once, and are written to `byWebhook` alone (ADR 13).
 *
 * Only final states have a `ttl` (seconds). It merely cleans up: an item past it is treated as gone here.
 *
 * Every change but one is made on the condition that nothing has changed since the delivery was read: its `state`, its `attempt`
 * and its `version`, which each change raises. The outcome of an attempt needs its attempt alone: it was made, whatever has
 * become of the wait for it. A release before `version` copies it as it is; against that release's writes `state` and `attempt`
 * decide.
 *
 * Beside deliveries the table holds what belongs to a webhook's deliveries, as items `head` too, under ids that begin with its
 * kind and `#`: `replays` (`replay-store.ts`), `limit` (counts of tests and resends, `request-limits.ts`), `slowness`
 * (`slowness-store.ts`). Besides, it holds `refusals`, the counts of refused events (`refusal-counts.ts`). Those that are a due
 * task of the sweeper stand in index `due` too.
 */

/** An entry that the sweeper finds in the index. Its item must be read before it is acted on, since the index lags. */
export interface DueEntry {
  readonly id: string;
  readonly dueShard: string;
  /** Begins with the time of the sweeper's look (`sweepAt`), not with the time when the attempt is due. */
  readonly dueAt: string;
}

/**
 * Does the work that an entry of index `due` stands for, other than a delivery, for as long as `hasTime` returns true. Returns by how
 * many milliseconds the deliveries were late that waited for it, if any did.
 */
export type DueTask = (entry: DueEntry, hasTime: () => boolean) => Promise<number | undefined>;

/** Deliveries as the consumers and the sweeper use them. */
export type DeliveryStore = ReturnType<typeof makeDeliveryStore>;

/** Makes the store of table `Deliveries`. All reads are consistent but for the index. */
export function makeDeliveryStore({
  dynamo,
  table,
  now,
  historyDays,
  retryForMs = 0,
  pause,
  turn,
  readItems = keys => batchGet(dynamo, keys),
  writesTogether = false,
}: {
  readonly dynamo: Dynamo;
  readonly table: string;
  /** The time that deliveries are kept after their final state, in days. */
  readonly historyDays: number;
  /** The time that the writing of an outcome is repeated where the store does not answer: by default it is not. */
  readonly retryForMs?: number;
  /** Reads for `readWith`; by default each reading is a call of its own. */
  readonly readItems?: ReadItems;
  /** True where many deliveries are created at about the same time: one call writes several. @default - a call each */
  readonly writesTogether?: boolean;
} & Pick<Time, 'now' | 'pause' | 'turn'>) {
  const insertTogether = makeInsertTogether({ dynamo, table, turn });
  return { readWith, read, create, update, claim, expire, waitingForSlot, due };

  /** Reads a delivery together with other items, in one round trip. */
  async function readWith(
    id: string,
    others: readonly ItemKey[],
  ): Promise<[Delivery | undefined, ...(Item | undefined)[]]> {
    const [delivery, ...items] = await readItems([headKey(table, id), ...others]);
    return [alive(delivery), ...items];
  }

  /** Reads up to 100 deliveries; those that are not there are left out. */
  async function read(ids: readonly string[]): Promise<Delivery[]> {
    const items = await batchGet(
      dynamo,
      [...new Set(ids)].map(id => headKey(table, id)),
    );
    return items.map(alive).filter(delivery => delivery !== undefined);
  }

  /**
   * Stores a new delivery, with what came first: an attempt's outcome, a move, a slot or a hold; a test is stored before its
   * attempt. False: a copy was quicker, nothing is changed.
   */
  function create(delivery: Delivery): Promise<boolean> {
    const isFree = expression`attribute_not_exists(id) OR ttl <= ${nowInSeconds()}`;
    return store(delivery, isFree, writesTogether);
  }

  /**
   * Stores a change of a stored delivery: an attempt's outcome, a move, a slot, a hold, a resend or a replay. False: nothing is
   * changed, since the delivery has changed since it was read, or, for an outcome, its attempt was recorded already.
   */
  function update(before: Delivery, after: Delivery): Promise<boolean> {
    const isOutcome = after.attempt > before.attempt;
    const version = (before.version ?? 0) + 1;
    return store({ ...after, version }, isOutcome ? isAttempt(before) : isAsRead(before));
  }

  /** Claims a pending delivery for the sweeper: `next` is its wait from then on. False: another sweeper or attempt was quicker. */
  function claim(delivery: Delivery & { readonly wait: Wait }, next: Wait): Promise<boolean> {
    const { id, wait, version = 0 } = delivery;
    return change(
      id,
      { claimedUntil: undefined, movedBy: undefined, ...next, dueAt: dueKey(next.sweepAt, id), version: version + 1 },
      expression`${isAsRead(delivery)} AND dueAt = ${dueKey(wait.sweepAt, id)}
        AND (attribute_not_exists(claimedUntil) OR claimedUntil <= ${now()})`,
    );
  }

  /**
   * Takes a held delivery that expires out of index `due`. False: it was sent again, or somebody else was quicker. It raises no
   * version: whoever sends the delivery again puts it back there.
   */
  function expire({ id, dueAt }: DueEntry): Promise<boolean> {
    return change(id, { dueShard: undefined, dueAt: undefined }, expression`dueAt = ${dueAt} AND state = ${'held'}`);
  }

  /**
   * Reads the deliveries that have waited longest for a slot of their slow webhook, of those that were due in a span, and tells
   * whether those are all.
   */
  async function waitingForSlot(
    shards: readonly string[],
    most: number,
    due: Span = {},
  ): Promise<{ deliveries: WaitingDelivery[]; isAll: boolean }> {
    if (most <= 0) return { deliveries: [], isAll: false };
    const limit = Math.ceil(most / shards.length) + backlogSlack;
    const pages = await Promise.all(shards.map(shard => longestWaiting(shard, limit, due)));
    const waiting = (await readMany(pages.flatMap(({ ids }) => ids))).filter(isWaitingForSlot);
    waiting.sort((one, other) => one.wait.nextAttemptAt - other.wait.nextAttemptAt);
    const isAll = pages.every(page => page.isAll) && waiting.length <= most;
    return { deliveries: waiting.slice(0, most), isAll };
  }

  /** Reads a page of the entries of a shard that the sweeper must look at by now, the oldest first, after one of them. */
  async function due(shard: string, after?: DueEntry): Promise<DueEntry[]> {
    const answer = await dynamo(
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
  }

  /** Returns the delivery that an item is, unless its time is over. */
  function alive(item: Item | undefined): Delivery | undefined {
    if (!item || (typeof item.ttl === 'number' && item.ttl <= nowInSeconds())) return undefined;
    return deliveryFromItem(item);
  }

  function nowInSeconds(): number {
    return Math.floor(now() / 1_000);
  }

  /**
   * Stores an outcome where a condition holds: the receiver's answer first, if the head does not hold it, then the head, which
   * is the commit. A head that was written more than once and is refused then may have met its own first try.
   */
  async function store(delivery: Delivery, when: Expression, isTogether = false): Promise<boolean> {
    const begun = now();
    const { settledAt } = delivery;
    const { head, answers } = partAnswers(delivery, settledAt && cleanUpAt(settledAt, historyDays));
    for (const Item of answers) {
      await untilAnswered(begun, () => dynamo(new PutCommand({ TableName: table, Item })));
    }
    const item = itemFromDelivery(head, historyDays);
    const input = { TableName: table, Item: item, ...conditionOf(when) };
    return isTogether ? insertTogether(item, putHead) : putHead();

    function putHead({ mayBeStored = false, failure }: EarlierInsert = {}): Promise<boolean> {
      let isRepeated = mayBeStored || failure !== undefined;
      return untilAnswered(begun, writeHead, failure);

      async function writeHead(): Promise<boolean> {
        try {
          await dynamo(new PutCommand(input));
          return true;
        } catch (error) {
          isRepeated ||= wasRepeated(error) || !isConditionFailed(error);
          if (isConditionFailed(error)) return isRepeated ? isStored(item) : false;
          throw error;
        }
      }
    }
  }

  /**
   * Repeats a write that gets no answer, with backoff: an outcome that is not stored is a second POST. `failure` is that of an
   * earlier try.
   */
  async function untilAnswered<Result>(
    begun: number,
    write: () => Promise<Result>,
    failure?: unknown,
  ): Promise<Result> {
    let failed = failure;
    let wait = firstPause;
    for (;;) {
      if (failed !== undefined) {
        if (!isUnavailable(failed) || now() - begun + wait > retryForMs) throw failed;
        await pause(wait);
        wait *= 2;
      }
      try {
        return await write();
      } catch (error) {
        failed = error;
      }
    }
  }

  /** Returns whether what stands in the table is what was to be written. */
  async function isStored(item: Item): Promise<boolean> {
    const [stored] = await batchGet(dynamo, [headKey(table, String(item.id))]);
    return isAsWritten(stored, item);
  }

  /** Returns whether the condition held. */
  async function change(id: string, set: Item, when: Expression): Promise<boolean> {
    return (await updateItem(dynamo, headKey(table, id), { set, when })) !== undefined;
  }

  async function longestWaiting(
    shard: string,
    limit: number,
    { from = 0, before }: Span,
  ): Promise<{ ids: string[]; isAll: boolean }> {
    const until = before === undefined ? lastKey : isoTime(before);
    const answer = await dynamo(
      new QueryCommand({
        TableName: table,
        IndexName: 'due',
        KeyConditionExpression: 'dueShard = :shard AND dueAt BETWEEN :from AND :until',
        ExpressionAttributeValues: { ':shard': shard, ':from': isoTime(from), ':until': until },
        Limit: limit,
      }),
    );
    return { ids: (answer.Items ?? []).map(({ id }) => String(id)), isAll: !answer.LastEvaluatedKey };
  }

  async function readMany(ids: readonly string[]): Promise<(Delivery | undefined)[]> {
    const chunks = Array.from({ length: Math.ceil(ids.length / batchGetLimit) }, (_, index) =>
      ids.slice(index * batchGetLimit, (index + 1) * batchGetLimit),
    );
    const items = await Promise.all(
      chunks.map(chunk =>
        batchGet(
          dynamo,
          chunk.map(id => headKey(table, id)),
        ),
      ),
    );
    return items.flat().map(alive);
  }
}

/** Returns the condition that a delivery waits for the attempt that it was read with, or is in its final state still. */
function isAttempt({ state, attempt }: Delivery): Expression {
  return expression`state = ${state} AND attempt = ${attempt}`;
}

/** Returns the condition that nothing has changed since a delivery was read. */
function isAsRead(read: Delivery): Expression {
  const isVersion =
    read.version === undefined ? expression`attribute_not_exists(version)` : expression`version = ${read.version}`;
  return expression`${isAttempt(read)} AND ${isVersion}`;
}
/** Moments from the first to before the second, in milliseconds since the epoch. Without one of them that side is open. */
export interface Span {
  readonly from?: number;
  readonly before?: number;
}

/** Greater than every key of index `due`. */
const lastKey = '~';

/** Before a write without an answer is repeated, in milliseconds; doubling. */
const firstPause = 100;

/** Beyond a shard's share of the longest waiting, since they are spread by chance. */
const backlogSlack = 25;

function isWaitingForSlot(delivery: Delivery | undefined): delivery is WaitingDelivery {
  return delivery?.wait?.slowLane === 'waiting';
}

/** Entries that the sweeper reads at a time and shard. */
const duePage = 25;
