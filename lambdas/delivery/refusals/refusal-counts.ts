import * as z from 'zod/mini';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { Item, StoreParts } from '../../platform/aws/dynamo.ts';
import { attribute, type Expression, expression, updateItem } from '../../platform/aws/update-item.ts';
import { isoTime } from '../../platform/clock.ts';
import { countedAfter, noticesPerMinute, refusalsKept, refusalWindow } from '../limits.ts';
import { taskAttributes } from '../store/delivery-item.ts';
import { headKey } from '../store/head-key.ts';
import { type RefusalReason, refusalReason } from './refusal-notice.ts';

/*
 * Refused events by principal, reason and minute of the clock, in table `Deliveries`.
 *
 * Item `refusals#<minute>#<reason>#<principal>`: `notice_0` to `notice_9` name the processes that may send the notices of the
 * minute. A process claims some at random: of many that come at once each tries once or twice. Where some were kept back it is
 * a task of the sweeper, which tells after the minute how many; `told` is the number that it told of.
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

export interface ClaimedNotices {
  /** The number that this process has sent, or may send. */
  readonly own: number;
  /** Those that nobody has claimed, as far as this process knows. */
  readonly free: readonly string[];
}

/** A minute's count, over all processes. */
export interface CountedRefusals extends Omit<Readonly<z.infer<typeof firstItem>>, 'refused'> {
  readonly keptBack: number;
}

export type RefusalCounts = ReturnType<typeof makeRefusalCounts>;

export type RefusalTotals = ReturnType<typeof makeRefusalTotals>;

/** Makes the store of one process over the table `Deliveries`. */
export function makeRefusalCounts({ dynamo, table, now, random }: StoreParts & { readonly random: () => number }) {
  const process = drawId(random);
  const ownShard = Math.floor(random() * shardCount);
  return { noneClaimed, claim, keepBack };

  /** Returns the notices of a new minute, in an order of this process's own. */
  function noneClaimed(): ClaimedNotices {
    const drawn = Array.from({ length: noticesPerMinute }, (_, at) => ({ name: `notice_${at}`, order: random() }));
    return { own: 0, free: drawn.toSorted((one, other) => one.order - other.order).map(({ name }) => name) };
  }

  /** Claims notices of a minute for this process, beyond those that it has. */
  async function claim(minute: RefusedMinute, { own, free }: ClaimedNotices, wanted: number): Promise<ClaimedNotices> {
    const key = headKey(table, idOf(minute));
    let left = free;
    while (left.length > 0) {
      const mine = left.slice(0, wanted);
      const isClaimed = await updateItem(dynamo, key, {
        set: { ...common(minute), ...Object.fromEntries(mine.map(name => [name, process])) },
        when: mine.map(isFree).reduce((all, one) => expression`${all} AND ${one}`),
      });
      const [item = {}] = isClaimed ? [] : await batchGet(dynamo, [key]);
      if (isClaimed || mine.every(name => item[name] === process)) {
        return { own: own + mine.length, free: left.slice(mine.length) };
      }
      left = left.filter(name => item[name] === undefined);
    }
    return { own, free: left };
  }

  /**
   * Stores how many of a minute this process has kept back by now.
   *
   * @param isTask - whether this process has made the minute a task of the sweeper.
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
}: Omit<StoreParts, 'now'> & { readonly random: () => number }) {
  return { read, drawMark: () => drawId(random), markTold, unmarkTold };

  /** Reads consistently, by the first item's id. */
  async function read(id: string): Promise<CountedRefusals | undefined> {
    const [first] = await batchGet(dynamo, [headKey(table, id)]);
    if (!first) return undefined;
    const shards = Array.from({ length: shardCount }, (_, shard) => headKey(table, shardId(id, shard)));
    const counts = (await batchGet(dynamo, shards)).flatMap(item => Object.entries(item ?? {}));
    const keptBack = counts.reduce((sum, [name, count]) => (name.startsWith('kept_') ? sum + Number(count) : sum), 0);
    return { ...firstItem.parse(first), keptBack };
  }

  /**
   * Marks all that were kept back as told, before that is done, and ends the sweeper's task. Returns `false` where more were kept back
   * since they were read, or another sweeper was quicker.
   */
  async function markTold({ id, keptBack, told, late }: CountedRefusals, mark: string): Promise<boolean> {
    const isMarked = await updateItem(dynamo, headKey(table, id), {
      set: { told: keptBack || undefined, toldBy: mark, dueShard: undefined, dueAt: undefined },
      when: expression`${isStill('told', told)} AND ${isStill('late', late)}`,
    });
    if (isMarked) return true;
    const [item] = await batchGet(dynamo, [headKey(table, id)]);
    return item?.toldBy === mark;
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
  /** Grows with each process that keeps some back, and with each count that is stored after the sweeper may have read. */
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

function isFree(name: string): Expression {
  return expression`attribute_not_exists(${attribute(name)})`;
}

/** The condition that a number is as it was read: one that was not there is 0. */
function isStill(name: string, value: number): Expression {
  return value === 0 ? isFree(name) : expression`${attribute(name)} = ${value}`;
}
