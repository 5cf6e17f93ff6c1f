import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet, type ReadItems } from '../../platform/aws/batch-get.ts';
import {
  equalsWritten,
  type Item,
  type ItemKey,
  isConditionFailed,
  isUnavailable,
  type StoreParts,
  wasRepeated,
} from '../../platform/aws/dynamo.ts';
import { type EarlierInsert, makeInsertTogether } from '../../platform/aws/insert-together.ts';
import { conditionOf, type Expression, expression, updateItem } from '../../platform/aws/update-item.ts';
import type { Time } from '../../platform/timer.ts';
import type { Delivery, Wait } from '../delivery.ts';
import { cleanUpAt, deliveryFromItem, dueKey, itemFromDelivery } from './delivery-item.ts';
import { makeDueIndex } from './due-index.ts';
import { headKey } from './head-key.ts';
import { splitResponses } from './response-item.ts';

/*
 * Table `Deliveries` has the partition key `id` (`evt_…`, or `teste_…` for a test) and the sort key `part`. Each test, and each event that
 * had a webhook, has one item `head` with the records of its latest attempts in compact form (`attempt-records.ts`). It also has one item per
 * response of its receiver (`response-item.ts`). The head is under 1 KB with ten records, because each attempt rewrites it (ADR 27). The
 * conditional write of the head is the only commit.
 *
 * Two indexes list the history. Both have the sort key listKey = `<acceptance>#<id>`, which never changes:
 *   - `byWebhook` (listShard = `<accountId>#<eventName>#<delivered or undelivered>`) contains all deliveries.
 *   - `undelivered` (stateShard = `<accountId>#<eventName>#<state>`) contains deliveries that are not `delivered`. It is sparse, because
 *     nearly all deliveries succeed at once and are written only to `byWebhook` (ADR 13).
 *
 * The `due` index contains the items that the sweeper must check (`due-index.ts`).
 *
 * Only items in a final state have a `ttl` in seconds. Readers treat an expired item as deleted, even if DynamoDB has not deleted it yet.
 *
 * A change requires that the delivery's `state`, `attempt` and `version` are unchanged since they were read, and increases `version`. The
 * outcome of an attempt requires only `state` and `attempt`, because the outcome must be stored even if the wait has changed.
 *
 * The table also contains data about a webhook's deliveries, in `head` items with these id prefixes: `replays` (`replay-store.ts`), `limit`
 * (counts of tests and resends, `request-limits.ts`) and `slowness` (`slowness-store.ts`). Running replays are also in the `due` index.
 */

export type DeliveryStore = ReturnType<typeof makeDeliveryStore>;

/** Creates the store of table `Deliveries`. All reads are strongly consistent, except reads of the index. */
export function makeDeliveryStore({
  dynamo,
  table,
  now,
  retryForMs = 0,
  pause,
  turn,
  readItems = keys => batchGet(dynamo, keys),
  writesTogether = false,
}: StoreParts & {
  /** The time in milliseconds for which a failed write of an outcome is retried. @default - it is not retried */
  readonly retryForMs?: number;
  /** Reads the items for `readWith`. @default - a separate call per read */
  readonly readItems?: ReadItems;
  /** True if one call should write several deliveries that are created at about the same time. @default - one call per delivery */
  readonly writesTogether?: boolean;
} & Pick<Time, 'pause' | 'turn'>) {
  const insertTogether = makeInsertTogether({ dynamo, table, turn });
  const { due } = makeDueIndex({ dynamo, table, now });
  return { readWith, read, create, update, claim, due };

  /** Reads a delivery together with other items, in one round trip. */
  async function readWith(
    id: string,
    others: readonly ItemKey[],
  ): Promise<[Delivery | undefined, ...(Item | undefined)[]]> {
    const [delivery, ...items] = await readItems([headKey(table, id), ...others]);
    return [unexpiredDelivery(delivery), ...items];
  }

  /** Reads deliveries. Omits missing deliveries and duplicates. */
  async function read(ids: readonly string[]): Promise<Delivery[]> {
    const items = await batchGet(
      dynamo,
      [...new Set(ids)].map(id => headKey(table, id)),
    );
    return items.map(unexpiredDelivery).filter(delivery => delivery !== undefined);
  }

  /**
   * Stores a new delivery with its first change, which is the outcome of an attempt, a move or a hold. A test is stored before its attempt.
   * Returns false without a change if a copy was stored first.
   */
  function create(delivery: Delivery): Promise<boolean> {
    const isFree = expression`attribute_not_exists(id) OR ttl <= ${nowInSeconds()}`;
    return store(delivery, isFree, writesTogether);
  }

  /**
   * Stores a change of a stored delivery, such as the outcome of an attempt, a deferral, a hold, a resend or a replay. Returns false without
   * a change if the delivery has changed since it was read, or for an outcome, if the attempt was already recorded.
   */
  function update(before: Delivery, after: Delivery): Promise<boolean> {
    const isOutcome = after.attempt > before.attempt;
    const version = (before.version ?? 0) + 1;
    return store({ ...after, version }, isOutcome ? isAttempt(before) : isUnchanged(before));
  }

  /** Claims a pending delivery for the sweeper. `next` is its new wait. Returns false if another process changed the delivery first. */
  function claim(delivery: Delivery & { readonly wait: Wait }, next: Wait): Promise<boolean> {
    const { id, wait, version = 0 } = delivery;
    return change(
      id,
      { claimedUntil: undefined, ...next, dueAt: dueKey(next.sweepAt, id), version: version + 1 },
      expression`${isUnchanged(delivery)} AND dueAt = ${dueKey(wait.sweepAt, id)}
        AND (attribute_not_exists(claimedUntil) OR claimedUntil <= ${now()})`,
    );
  }

  /** Returns the delivery of an item, or `undefined` if it has expired. */
  function unexpiredDelivery(item: Item | undefined): Delivery | undefined {
    if (!item || (typeof item.ttl === 'number' && item.ttl <= nowInSeconds())) return undefined;
    return deliveryFromItem(item);
  }

  function nowInSeconds(): number {
    return Math.floor(now() / 1_000);
  }

  /** Stores a delivery if a condition is met. First writes the responses that are not in the head. The write of the head is the commit. */
  async function store(delivery: Delivery, when: Expression, isTogether = false): Promise<boolean> {
    const started = now();
    const { settledAt } = delivery;
    const { head, responses } = splitResponses(delivery, settledAt && cleanUpAt(settledAt));
    for (const Item of responses) {
      await retryWhileUnavailable(started, () => dynamo(new PutCommand({ TableName: table, Item })));
    }
    const item = itemFromDelivery(head);
    const write = { started, item, condition: conditionOf(when) };
    return isTogether ? insertTogether(item, earlier => putHead(write, earlier)) : putHead(write);
  }

  /** Puts a head. If a repeated write fails its condition, checks whether an earlier try stored the head. */
  function putHead(
    { started, item, condition }: HeadWrite,
    { mayBeStored = false, failure }: EarlierInsert = {},
  ): Promise<boolean> {
    let isRepeated = mayBeStored || failure !== undefined;
    return retryWhileUnavailable(started, putOnce, failure);

    async function putOnce(): Promise<boolean> {
      try {
        await dynamo(new PutCommand({ TableName: table, Item: item, ...condition }));
        return true;
      } catch (error) {
        isRepeated ||= wasRepeated(error) || !isConditionFailed(error);
        if (!isConditionFailed(error)) throw error;
        return isRepeated && isStored(item);
      }
    }
  }

  /**
   * Writes, and retries with backoff while DynamoDB is unavailable, until `retryForMs` after `started`. An outcome that is not stored would
   * cause another POST. `failure` is the failure of an earlier try. Throws the last failure.
   */
  async function retryWhileUnavailable<Result>(
    started: number,
    write: () => Promise<Result>,
    failure?: unknown,
  ): Promise<Result> {
    let lastFailure = failure;
    let wait = firstPause;
    for (;;) {
      if (lastFailure !== undefined) {
        if (!isUnavailable(lastFailure) || now() - started + wait > retryForMs) throw lastFailure;
        await pause(wait);
        wait *= 2;
      }
      try {
        return await write();
      } catch (error) {
        lastFailure = error;
      }
    }
  }

  /** Returns whether the table already has the item. */
  async function isStored(item: Item): Promise<boolean> {
    const [stored] = await batchGet(dynamo, [headKey(table, String(item.id))]);
    return equalsWritten(stored, item);
  }

  /** Returns whether the condition was met. */
  async function change(id: string, set: Item, when: Expression): Promise<boolean> {
    return (await updateItem(dynamo, headKey(table, id), { set, when })) !== undefined;
  }
}

/** Returns the condition that the state and the next attempt of a delivery are unchanged since it was read. */
function isAttempt({ state, attempt }: Delivery): Expression {
  return expression`state = ${state} AND attempt = ${attempt}`;
}

/** Returns the condition that a delivery is unchanged since it was read. */
function isUnchanged(before: Delivery): Expression {
  const isVersion =
    before.version === undefined ? expression`attribute_not_exists(version)` : expression`version = ${before.version}`;
  return expression`${isAttempt(before)} AND ${isVersion}`;
}

interface HeadWrite {
  /** The start of the first write of the outcome. */
  readonly started: number;
  readonly item: Item;
  readonly condition: ReturnType<typeof conditionOf>;
}

/** The pause before the first retry of a write, in milliseconds. It doubles with each retry. */
const firstPause = 100;
