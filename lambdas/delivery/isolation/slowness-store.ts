import { batchGet } from '../../platform/aws/batch-get.ts';
import type { Item, StoreParts } from '../../platform/aws/dynamo.ts';
import { type Expression, expression, updateItem } from '../../platform/aws/update-item.ts';
import { type EventName, eventNameSchema } from '../../webhooks/webhook.ts';
import { backlogRenewal, furthestSlot } from '../limits.ts';
import { dueKey, taskAttributes } from '../store/delivery-item.ts';
import type { DueEntry } from '../store/due-index.ts';
import { headKey } from '../store/head-key.ts';
import { type SlownessOwner, slownessId } from './slow-since.ts';
import { type Slots, type Slowness, slotInterval, takeSlots } from './slowness.ts';

/*
 * The slowness of the receiver of an account's event: item `slowness#<accountId>#<eventName>` of table `Deliveries`. It
 * belongs to the event and not to the registration, so that neither a PUT nor a new registration shortens it.
 *
 * Four parts of it are written independently of each other:
 *   - the tally and what follows from it, read and written back under the condition that `version` did not change;
 *   - `servedAt`: when the sweeper last moved on any delivery that waits for a slot, by which lateness is measured;
 *   - the slots: `nextSlotAt`, the next free one, which each reservation moves on, by one slot or by several
 *     (`slot-reservations.ts`), and the series it belongs to, `slotSeries` with `seriesInterval`;
 *   - the backlog. `backlogAt`: set while new arrivals must queue in the table. `waitingAt`: when the last one was about to be
 *     stored. While it is set, the sweeper has a task: the item stands in index `due` (`slow-backlog.ts`).
 */

/** Slowness as it is stored. Milliseconds since the epoch. */
export interface StoredSlowness extends Slowness, Slots {
  readonly accountId: string;
  readonly eventName: EventName;
  readonly version: number;
  readonly servedAt?: number | undefined;
  readonly backlogAt?: number | undefined;
  readonly waitingAt?: number | undefined;
  /** The place where it stands in index `due`. */
  readonly dueAt?: string | undefined;
}

/** Slots in a row. Milliseconds since the epoch, and between two of them. */
export interface SlotBlock {
  readonly firstAt: number;
  readonly interval: number;
  /** The number of their series. */
  readonly series: number;
}

export type SlownessStore = ReturnType<typeof makeSlownessStore>;

/** Returns the slowness that an item stands for; without an item, nothing is known. */
export function slownessOf({ accountId, eventName }: SlownessOwner, item: Item | undefined): StoredSlowness {
  const { id: _, part: __, dueShard: ___, ttl: ____, ...stored } = item ?? {};
  return { tallies: [], version: 0, nextSlotAt: 0, slotSeries: 0, ...stored, accountId, eventName };
}

/** Makes the store over the table `Deliveries`. All reads are consistent. */
export function makeSlownessStore({
  dynamo,
  table,
  now,
  rate,
}: StoreParts & {
  /** Slots a second that a slow webhook has at most. */
  readonly rate: number;
}) {
  return { read, change, reserve, reserveUntil, noteServed, beginWaiting, claim, endBacklog, endWaiting };

  async function read(id: string): Promise<StoredSlowness | undefined> {
    const item = await readItem(id);
    if (!item) return undefined;
    return slownessOf({ accountId: String(item.accountId), eventName: eventNameSchema.parse(item.eventName) }, item);
  }

  /**
   * Changes the slowness by a pure function; `undefined` changes nothing. A write that loses a race is repeated with what is
   * stored then. Returns what is stored afterwards: after six lost races that lacks the change.
   */
  async function change(
    { accountId, eventName }: SlownessOwner,
    apply: (slowness: Slowness) => Slowness | undefined,
  ): Promise<StoredSlowness> {
    const owner = { accountId, eventName }; // callers have a webhook at hand: its secrets do not belong here
    let slowness = await readOf(owner);
    for (let tries = 1; ; tries++) {
      const changed = apply(slowness);
      if (!changed) return slowness;
      const { tallies, slowSince, reachedAt, hold, endedAt, longestAttempt, measuredAt } = changed;
      const learnt = { tallies, slowSince, reachedAt, hold, endedAt, longestAttempt, measuredAt };
      const version = slowness.version + 1;
      const isUnchanged = expression`attribute_not_exists(version) OR version = ${slowness.version}`;
      if (await write(owner, { ...owner, ...learnt, version }, isUnchanged)) return { ...slowness, ...learnt, version };
      slowness = await readOf(owner);
      if (tries === maxTries) return slowness; // without the change: a later attempt shows it
    }
  }

  /**
   * Reserves the next slots of a webhook, this number in a row, by one write. `undefined`: they are too far off. Where others have
   * begun a new series since the slowness was read, or made the present one quicker, it is read again.
   */
  async function reserve(slowness: StoredSlowness, slots: number): Promise<SlotBlock | undefined> {
    let known = slowness;
    for (let tries = 1; ; tries++) {
      const moment = now();
      const interval = slotInterval(known, rate);
      const taken = takeSlots(known, slots, interval, moment);
      if (!taken) return undefined;
      const { after } = taken;
      const isNew = after.slotSeries !== known.slotSeries;
      // If the last slot that was read is over, perhaps nobody has reserved since. If somebody has, the condition fails, and
      // the next try counts on.
      const asRead = isNew || known.nextSlotAt < moment ? await reserveFirst(known, after, moment) : undefined;
      const firstAt = asRead ?? (isNew ? undefined : await reserveAfterOthers(known, slots * interval, after, moment));
      if (firstAt !== undefined) return { firstAt, interval, series: after.slotSeries };
      if (tries === maxTries) return undefined;
      known = await readOf(slowness);
    }
  }

  /** Reserves slots from now on, where they begin a series or the last one is over. */
  async function reserveFirst(known: StoredSlowness, after: Slots, moment: number): Promise<number | undefined> {
    const { accountId, eventName } = known;
    const isOver = expression`(attribute_not_exists(nextSlotAt) OR nextSlotAt < ${moment})`;
    const isFree =
      after.slotSeries === known.slotSeries ? expression`${isOver} AND ${isSeriesOf(known)}` : isSeriesOf(known);
    return (await write(known, { accountId, eventName, ...after }, isFree)) ? moment : undefined;
  }

  /** Reserves the slots after those that others have. `length`: how long all of them take, in milliseconds. */
  async function reserveAfterOthers(known: StoredSlowness, length: number, after: Slots, moment: number) {
    const isNear = expression`nextSlotAt BETWEEN ${moment} AND ${moment + furthestSlot}`;
    const before = await updateItem(dynamo, headKey(table, slownessId(known)), {
      set: { ...after, nextSlotAt: expression`nextSlotAt + ${length}` },
      when: expression`${isNear} AND ${isSeriesOf(known)}`,
      returns: 'UPDATED_OLD',
    });
    return before && Number(before.nextSlotAt);
  }

  /** Takes slots for the sweeper: `after` is what they are then. False: somebody else reserved meanwhile. */
  function reserveUntil(known: StoredSlowness, { nextSlotAt, slotSeries, seriesInterval }: Slots): Promise<boolean> {
    const isFree = expression`(attribute_not_exists(nextSlotAt) OR nextSlotAt = ${known.nextSlotAt})`;
    const when = expression`${isFree} AND ${isSeriesOf(known)}`;
    return write(known, { nextSlotAt, slotSeries, seriesInterval }, when);
  }

  /** Notes that the sweeper moved deliveries on that waited for a slot. */
  async function noteServed(slowness: StoredSlowness): Promise<void> {
    await write(slowness, { servedAt: now() }, expression`attribute_exists(id)`); // its account may be deleted meanwhile
  }

  /** Notes that a delivery is about to wait in the table. Must be stored before the delivery is. */
  async function beginWaiting(slowness: StoredSlowness): Promise<void> {
    const { accountId, eventName, backlogAt, waitingAt = 0, dueAt } = slowness;
    const moment = now();
    if (backlogAt !== undefined && dueAt !== undefined && moment - waitingAt < backlogRenewal) return;
    const task = taskAttributes(slownessId(slowness), moment);
    await write(slowness, {
      accountId,
      eventName,
      waitingAt: moment,
      backlogAt: expression`if_not_exists(backlogAt, ${moment})`,
      dueShard: expression`if_not_exists(dueShard, ${task.dueShard})`,
      dueAt: expression`if_not_exists(dueAt, ${task.dueAt})`,
    });
  }

  /** Claims the sweeper's task until a later moment. False: another sweeper was quicker. */
  function claim({ id, dueAt }: DueEntry, until: number): Promise<boolean> {
    return writeItem(id, { dueAt: dueKey(until, id) }, expression`dueAt = ${dueAt}`);
  }

  /** Lets arrivals reserve slots again: no delivery was seen waiting. */
  async function endBacklog(slowness: StoredSlowness): Promise<void> {
    await write(slowness, { backlogAt: undefined }, isWaitingAsIn(slowness));
  }

  /** Ends the sweeper's task. False: something was about to wait again. */
  function endWaiting(slowness: StoredSlowness): Promise<boolean> {
    const ended = { backlogAt: undefined, waitingAt: undefined, dueShard: undefined, dueAt: undefined };
    return write(slowness, ended, isWaitingAsIn(slowness));
  }

  async function readOf(owner: SlownessOwner): Promise<StoredSlowness> {
    return slownessOf(owner, await readItem(slownessId(owner)));
  }

  async function readItem(id: string): Promise<Item | undefined> {
    const [item] = await batchGet(dynamo, [headKey(table, id)]);
    return item;
  }

  function write(owner: SlownessOwner, attributes: Item, when?: Expression): Promise<boolean> {
    return writeItem(slownessId(owner), attributes, when);
  }

  /** Returns whether the condition held. */
  async function writeItem(id: string, attributes: Item, when?: Expression): Promise<boolean> {
    const set = { ...attributes, ttl: expiryAt(now()) };
    return (await updateItem(dynamo, headKey(table, id), { set, when })) !== undefined;
  }
}

/** Returns the condition that slots are of the series that was read, or that none was ever taken. */
function isSeriesOf({ slotSeries, seriesInterval }: Slots): Expression {
  if (seriesInterval === undefined) return expression`attribute_not_exists(seriesInterval)`;
  return expression`slotSeries = ${slotSeries} AND seriesInterval = ${seriesInterval}`;
}

function isWaitingAsIn({ waitingAt }: StoredSlowness): Expression {
  return expression`waitingAt = ${waitingAt}`;
}

/** The most times that a change that loses races is tried. */
const maxTries = 6;

/** An item that nobody writes any more is cleaned up after 40 days: long after whatever may wait has ended. */
function expiryAt(moment: number): number {
  return Math.ceil(moment / 1_000) + 40 * 24 * 60 * 60;
}
