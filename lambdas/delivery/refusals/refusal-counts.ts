import * as z from 'zod/mini';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { DynamoDBDocumentClient } from '../../platform/aws/documents.ts';
import type { Item } from '../../platform/aws/dynamo.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import { countedAfter, noticesPerMinute, refusalsKept, refusalWindow } from '../limits.ts';
import { taskAttributes } from '../store/delivery-item.ts';
import { headKey } from '../store/head-key.ts';
import { type RefusalReason, refusalReason } from './refusal-notice.ts';

/*
 * Refused events by principal, reason and minute of the clock: item `refusals#<minute>#<reason>#<principal>` of table
 * `Deliveries`. `refused` is their number, in all functions together. It is a task of the sweeper from the start: after the
 * minute the sweeper tells of those over the limit of notices, and `told` is the number that it told of. A count that comes later
 * makes it a task again. So nothing that was counted is forgotten; after a crash it may be told twice.
 *
 * A process that knows that the limit is reached counts in one of sixteen further items, `…#<number>`, since each invocation of a
 * flood stores its count before it ends, and one item takes a thousand writes a second. The sweeper adds them all.
 *
 * To count is one write without a condition, of one unit. The first of a minute costs another for index `due`.
 */

/** The prefix of these items' ids, which tells the sweeper what they are. */
export const refusalsPrefix = 'refusals';

/** The principal and the reason of refused events that are counted together. */
export interface RefusedGroup {
  readonly principal: string;
  readonly reason: RefusalReason;
}

/** A minute's count of a group, in all its items. */
interface CountedRefusals extends Omit<Readonly<z.infer<typeof firstItem>>, 'late'> {
  /** The first item as it was: it is a task until it was read with these. */
  readonly read: { readonly refused: number; readonly late: number };
}

/** The counts of refused events. */
export type RefusalCounts = ReturnType<typeof makeRefusalCounts>;

/** Makes the store over the table `Deliveries`. */
export function makeRefusalCounts({
  dynamo,
  table,
  now,
  random,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
  readonly random: () => number;
}) {
  const ownShard = Math.floor(random() * shardCount);
  return { add, addBeyond, read, settle };

  /**
   * Counts more refused events in the present minute. Returns how many were counted before. A try that is repeated because its
   * answer was lost may count twice.
   */
  async function add(group: RefusedGroup, refused: number): Promise<number> {
    const beganAt = Math.floor(now() / refusalWindow) * refusalWindow;
    const id = idOf(group, beganAt);
    const counted = await updateItem(dynamo, headKey(table, id), {
      set: { ...group, beganAt, ...common(beganAt, refused), ...task(id, beganAt) },
      returns: 'UPDATED_NEW',
    });
    return Number(counted?.refused) - refused;
  }

  /** Counts more refused events of a group that had its notices of the minute, in which they were counted by `add`, too. */
  async function addBeyond(group: RefusedGroup, beganAt: number, refused: number): Promise<void> {
    const id = idOf(group, beganAt);
    await updateItem(dynamo, headKey(table, shardId(id, ownShard)), { set: common(beganAt, refused) });
    // Written so late that the sweeper may have added the items before: it must do so again.
    if (now() < beganAt + refusalWindow + countedAfter) return;
    await updateItem(dynamo, headKey(table, id), {
      set: { late: expression`if_not_exists(late, ${0}) + ${1}`, ...task(id, beganAt) },
      when: expression`attribute_exists(id)`,
    });
  }

  /** Reads consistently, by the first item's id. */
  async function read(id: string): Promise<CountedRefusals | undefined> {
    const [item] = await batchGet(dynamo, [headKey(table, id)]);
    if (!item) return undefined;
    const { late, ...first } = firstItem.parse(item);
    const { refused } = first;
    const more = refused < noticesPerMinute ? 0 : await countOfShards(id);
    return { ...first, refused: refused + more, read: { refused, late } };
  }

  async function countOfShards(id: string): Promise<number> {
    const shards = Array.from({ length: shardCount }, (_, shard) => headKey(table, shardId(id, shard)));
    const items = await batchGet(dynamo, shards);
    return items.reduce((sum, item) => sum + (item ? Number(item.refused) : 0), 0);
  }

  /** Stores how many over the limit are told by now. The sweeper's task ends unless more were counted since it was read. */
  async function settle({ id, read: { refused, late } }: CountedRefusals, told: number): Promise<void> {
    const isAsRead = expression`refused = ${refused} AND ${late === 0 ? noneLate : expression`late = ${late}`}`;
    const ended = await updateItem(dynamo, headKey(table, id), {
      set: { told, dueShard: undefined, dueAt: undefined },
      when: isAsRead,
    });
    if (!ended) await updateItem(dynamo, headKey(table, id), { set: { told }, when: expression`attribute_exists(id)` });
  }
}

const noneLate = expression`attribute_not_exists(late)`;

/** Sixteen items take sixteen thousand writes a second. */
const shardCount = 16;

const firstItem = z.object({
  id: z.string(),
  principal: z.string(),
  reason: refusalReason,
  /** The moment when its minute began. Milliseconds since the epoch. */
  beganAt: z.int(),
  refused: z.int(),
  told: z._default(z.int(), 0),
  /** Grows with each count that was stored late in another item. */
  late: z._default(z.int(), 0),
});

function idOf({ principal, reason }: RefusedGroup, beganAt: number): string {
  return `${refusalsPrefix}#${isoTime(beganAt)}#${reason}#${principal}`;
}

function shardId(id: string, shard: number): string {
  return `${id}#${shard}`;
}

function common(beganAt: number, refused: number): Item {
  return {
    ttl: Math.ceil((beganAt + refusalWindow + refusalsKept) / 1_000),
    refused: expression`if_not_exists(refused, ${0}) + ${refused}`,
  };
}

function task(id: string, beganAt: number): Item {
  const { dueShard, dueAt } = taskAttributes(id, beganAt + refusalWindow + countedAfter);
  return {
    dueShard: expression`if_not_exists(dueShard, ${dueShard})`,
    dueAt: expression`if_not_exists(dueAt, ${dueAt})`,
  };
}
