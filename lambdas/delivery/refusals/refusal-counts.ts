import * as z from 'zod/mini';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { DynamoDBDocumentClient } from '../../platform/aws/documents.ts';
import type { Item } from '../../platform/aws/dynamo.ts';
import { attribute, type Expression, expression, updateItem } from '../../platform/aws/update-item.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import { countedAfter, noticesPerMinute, refusalsKept, refusalWindow } from '../limits.ts';
import { taskAttributes } from '../store/delivery-item.ts';
import { headKey } from '../store/head-key.ts';
import { type RefusalReason, refusalReason } from './refusal-notice.ts';

/*
 * Refused events by principal, reason and minute of the clock, in table `Deliveries`.
 *
 * Item `refusals#<minute>#<reason>#<principal>`: `noticed` is the number of notices that processes have claimed, ten at most, and
 * `noticed_<process>` those of one of them. With the tenth it becomes a task of the sweeper, which tells after the minute how
 * many were kept back; `told` is the number that it told of.
 *
 * Items `…#<0 to 15>`: `kept_<process>` is the number that one process kept back in the minute. The sweeper adds them. A process
 * has one of the sixteen: each invocation of a flood stores its number before it ends, and one item takes a thousand writes a
 * second. With 1,000 processes in a minute an item has some 2 KB.
 *
 * Each write sets a number that one process alone knows, or is conditional and read back: one that is repeated because its
 * answer was lost changes nothing.
 */

/** The prefix of these items' ids, which tells the sweeper what they are. */
export const refusalsPrefix = 'refusals';

/** The refused events that are counted together: those of a principal and reason in a minute. */
export interface RefusedMinute {
  readonly principal: string;
  readonly reason: RefusalReason;
  /** The moment when the minute began. Milliseconds since the epoch. */
  readonly beganAt: number;
}

/** The notices of a minute. */
export interface ClaimedNotices {
  /** Those that this process may send. */
  readonly own: number;
  /** Those that all processes have claimed, as far as this one knows. */
  readonly all: number;
}

/** A minute's count, over all processes. */
interface CountedRefusals extends Readonly<z.infer<typeof firstItem>> {
  readonly keptBack: number;
}

/** What a process stores of the events that it refused. */
export type RefusalCounts = ReturnType<typeof makeRefusalCounts>;

/** The counts of minutes, which the sweeper tells. */
export type RefusalTotals = ReturnType<typeof makeRefusalTotals>;

/** Makes the store of one process over the table `Deliveries`. */
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
  const process = drawId(random);
  const ownShard = Math.floor(random() * shardCount);
  return { claim, keepBack };

  /** Claims notices of a minute for this process, beyond those that it has. Ten are shared by all. */
  async function claim(minute: RefusedMinute, { own, all }: ClaimedNotices, wanted: number): Promise<ClaimedNotices> {
    const id = idOf(minute);
    const ownAttribute = `noticed_${process}`;
    let before = all;
    while (before < noticesPerMinute) {
      const more = Math.min(wanted, noticesPerMinute - before);
      const claimed = { own: own + more, all: before + more };
      const set = { ...common(minute), noticed: claimed.all, [ownAttribute]: claimed.own };
      const isLast = claimed.all === noticesPerMinute;
      const isClaimed = await updateItem(dynamo, headKey(table, id), {
        set: { ...set, ...(isLast && task(id, minute)) },
        when: before === 0 ? expression`attribute_not_exists(noticed)` : expression`noticed = ${before}`,
      });
      if (isClaimed) return claimed;
      const [item] = await batchGet(dynamo, [headKey(table, id)]);
      if (item?.[ownAttribute] === claimed.own) return { own: claimed.own, all: Number(item.noticed) }; // by an earlier try
      before = Number(item?.noticed ?? 0);
    }
    return { own, all: before };
  }

  /**
   * Stores how many of a minute this process has kept back by now.
   *
   * @param isTask - false where the process does not know that the minute is a task of the sweeper.
   */
  async function keepBack(minute: RefusedMinute, keptBack: number, isTask: boolean): Promise<void> {
    const id = idOf(minute);
    const own = attribute(`kept_${process}`);
    await updateItem(dynamo, headKey(table, shardId(id, ownShard)), {
      set: { ttl: ttlOf(minute), [`kept_${process}`]: keptBack },
      when: expression`attribute_not_exists(${own}) OR ${own} < ${keptBack}`, // an earlier write may come late
    });
    // After the minute the sweeper may have added the items before: it must do so again.
    if (isTask && now() < minute.beganAt + refusalWindow + countedAfter) return;
    await updateItem(dynamo, headKey(table, id), {
      set: { ...common(minute), late: expression`if_not_exists(late, ${0}) + ${1}`, ...task(id, minute) },
    });
  }
}

/** Makes the store of the sweeper over the table `Deliveries`. */
export function makeRefusalTotals({
  dynamo,
  table,
  random,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly random: () => number;
}) {
  return { read, markTold, unmarkTold };

  /** Reads consistently, by the first item's id. */
  async function read(id: string): Promise<CountedRefusals | undefined> {
    const [first] = await batchGet(dynamo, [headKey(table, id)]);
    if (!first) return undefined;
    const shards = Array.from({ length: shardCount }, (_, shard) => headKey(table, shardId(id, shard)));
    const kept = (await batchGet(dynamo, shards)).flatMap(item =>
      Object.entries(item ?? {}).flatMap(([name, value]) => (name.startsWith('kept_') ? [Number(value)] : [])),
    );
    return { ...firstItem.parse(first), keptBack: kept.reduce((sum, value) => sum + value, 0) };
  }

  /**
   * Marks all that were kept back as told, before that is done, and ends the sweeper's task. Returns what identifies the mark;
   * `undefined` where more were kept back since they were read, or another sweeper was quicker.
   */
  async function markTold({ id, keptBack, told, late }: CountedRefusals): Promise<string | undefined> {
    const mark = drawId(random);
    const isMarked = await updateItem(dynamo, headKey(table, id), {
      set: { told: keptBack || undefined, toldBy: mark, dueShard: undefined, dueAt: undefined },
      when: expression`${isStill('told', told)} AND ${isStill('late', late)}`,
    });
    if (isMarked) return mark;
    const [item] = await batchGet(dynamo, [headKey(table, id)]);
    return item?.toldBy === mark ? mark : undefined;
  }

  /** Takes a mark back, where the telling failed: the minute is a task of the sweeper again. */
  async function unmarkTold({ id, told, ...minute }: CountedRefusals, mark: string): Promise<void> {
    await updateItem(dynamo, headKey(table, id), {
      set: { told: told || undefined, toldBy: undefined, ...task(id, minute) },
      when: expression`toldBy = ${mark}`,
    });
  }
}

/** Sixteen items take sixteen thousand writes a second. */
const shardCount = 16;

const firstItem = z.object({
  id: z.string(),
  principal: z.string(),
  reason: refusalReason,
  beganAt: z.int(),
  told: z._default(z.int(), 0),
  /** Grows with each count that was stored after the sweeper may have read, or by a process that knows of no task. */
  late: z._default(z.int(), 0),
});

function drawId(random: () => number): string {
  return Math.floor(random() * 2 ** 48).toString(36);
}

function idOf({ principal, reason, beganAt }: RefusedMinute): string {
  return `${refusalsPrefix}#${isoTime(beganAt)}#${reason}#${principal}`;
}

function shardId(id: string, shard: number): string {
  return `${id}#${shard}`;
}

function common({ principal, reason, beganAt }: RefusedMinute): Item {
  return { principal, reason, beganAt, ttl: ttlOf({ beganAt }) };
}

function ttlOf({ beganAt }: Pick<RefusedMinute, 'beganAt'>): number {
  return Math.ceil((beganAt + refusalWindow + refusalsKept) / 1_000);
}

function task(id: string, { beganAt }: Pick<RefusedMinute, 'beganAt'>): Item {
  const { dueShard, dueAt } = taskAttributes(id, beganAt + refusalWindow + countedAfter);
  return {
    dueShard: expression`if_not_exists(dueShard, ${dueShard})`,
    dueAt: expression`if_not_exists(dueAt, ${dueAt})`,
  };
}

/** The condition that a number is as it was read: one that was not there is 0. */
function isStill(name: string, value: number): Expression {
  return value === 0 ? expression`attribute_not_exists(${attribute(name)})` : expression`${attribute(name)} = ${value}`;
}
