import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import type { Clock } from '../../platform/clock.ts';
import { conditionalWrite, type Item } from '../../platform/dynamo.ts';
import { type EventName, eventNameSchema } from '../../webhooks/webhook.ts';
import { backlogRenewal, furthestSlot } from '../limits.ts';
import { dueKey, taskAttributes } from '../store/delivery-item.ts';
import type { DueEntry } from '../store/delivery-store.ts';
import { nextSlot, type Slowness, slotInterval } from './slowness.ts';

/*
 * How slowly the receiver of an account's event answers: item `slowness#<accountId>#<eventName>` of table `Deliveries`. It
 * belongs to the event and not to the registration, so that neither a PUT nor a new registration shortens it.
 *
 * Three parts of it are written independently of each other:
 *   - the tally and what follows from it, read and written back under the condition that `version` did not change;
 *   - `nextSlotAt`, the next free slot; each reservation moves it on, by one slot or by several (`slot-reservations.ts`);
 *   - the backlog. `backlogAt`: set while new arrivals must queue in the table. `waitingAt`: when the last one was about to be
 *     stored. While it is set, the sweeper has a task: the item stands in index `due` (`slow-backlog.ts`).
 */

/** The prefix of these items' ids, which tells the sweeper what they are. */
export const slownessPrefix = 'slowness';

/** Slowness as it is stored. Milliseconds since the epoch. */
export interface StoredSlowness extends Slowness {
  readonly accountId: string;
  readonly eventName: EventName;
  readonly version: number;
  readonly nextSlotAt: number;
  readonly backlogAt?: number | undefined;
  readonly waitingAt?: number | undefined;
  /** Where it stands in index `due`. */
  readonly dueAt?: string | undefined;
}

/** Whose slowness it is. */
export interface SlownessOwner {
  readonly accountId: string;
  readonly eventName: EventName;
}

/** Slots in a row. Milliseconds since the epoch, and between two of them. */
export interface SlotBlock {
  readonly firstAt: number;
  readonly interval: number;
}

/** Reads and writes slowness. All reads are consistent. */
export interface SlownessStore {
  read(id: string): Promise<StoredSlowness | undefined>;
  /**
   * Changes the slowness by a pure function; `undefined` changes nothing. A write that loses a race is repeated with what is
   * stored then. Gives what is stored afterwards: after six lost races that lacks the change.
   */
  change(owner: SlownessOwner, apply: (slowness: Slowness) => Slowness | undefined): Promise<StoredSlowness>;
  /** Reserves the next slots of a webhook, so many in a row, by one write. `undefined`: they are too far off. */
  reserve(slowness: StoredSlowness, slots: number): Promise<SlotBlock | undefined>;
  /** Takes the slots from one moment to another for the sweeper. False: somebody else reserved meanwhile. */
  reserveUntil(slowness: StoredSlowness, until: number): Promise<boolean>;
  /** Notes that a delivery is about to wait in the table. Must be stored before the delivery is. */
  beginWaiting(slowness: StoredSlowness): Promise<void>;
  /** Claims the sweeper's task until a later moment. False: another sweeper was quicker. */
  claim(entry: DueEntry, until: number): Promise<boolean>;
  /** Lets arrivals reserve slots again: no delivery was seen waiting. */
  endBacklog(slowness: StoredSlowness): Promise<void>;
  /** Ends the sweeper's task. False: something was about to wait again. */
  endWaiting(slowness: StoredSlowness): Promise<boolean>;
}

/** The key of an owner's item in the table `Deliveries`. */
export function slownessId({ accountId, eventName }: SlownessOwner): string {
  return `${slownessPrefix}#${accountId}#${eventName}`;
}

/** The slowness that an item stands for; without an item, nothing is known. */
export function slownessOf({ accountId, eventName }: SlownessOwner, item: Item | undefined): StoredSlowness {
  const { id: _, dueShard: __, ttl: ___, ...stored } = item ?? {};
  return { tallies: [], version: 0, nextSlotAt: 0, ...stored, accountId, eventName };
}

/** Makes the store over the table `Deliveries`. */
export function makeSlownessStore({
  dynamo,
  table,
  now,
  rate,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
  /** Slots a second that a slow webhook has at most. */
  readonly rate: number;
}): SlownessStore {
  return {
    async read(id) {
      const item = await readItem(id);
      if (!item) return undefined;
      return slownessOf({ accountId: String(item.accountId), eventName: eventNameSchema.parse(item.eventName) }, item);
    },

    async change({ accountId, eventName }, apply) {
      const owner = { accountId, eventName }; // callers have a webhook at hand: its secrets do not belong here
      let slowness = await readOf(owner);
      for (let tries = 1; ; tries++) {
        const changed = apply(slowness);
        if (!changed) return slowness;
        const { tallies, slowSince, reachedAt, hold, endedAt, longestAttempt, measuredAt } = changed;
        const learnt = { tallies, slowSince, reachedAt, hold, endedAt, longestAttempt, measuredAt };
        const version = slowness.version + 1;
        const isWritten = await write(owner, { ...owner, ...learnt, version }, unchanged, {
          ':seen': slowness.version,
        });
        if (isWritten) return { ...slowness, ...learnt, version };
        slowness = await readOf(owner);
        if (tries === maxTries) return slowness; // without the change: a later attempt shows it
      }
    },

    async reserve(slowness, slots) {
      const interval = slotInterval(slowness, rate);
      const length = slots * interval;
      const moment = now();
      if (!nextSlot(slowness.nextSlotAt, interval, moment)) return undefined;
      // If the last slot that was read is over, perhaps nobody has reserved since. If somebody has, the condition fails, and
      // the next try counts on.
      const asRead = slowness.nextSlotAt < moment ? await reserveFirst(slowness, length, moment) : undefined;
      const firstAt =
        asRead ??
        (await reserveAfterOthers(slowness, length, moment)) ??
        (await reserveFirst(slowness, length, moment)) ??
        (await reserveAfterOthers(slowness, length, moment));
      return firstAt === undefined ? undefined : { firstAt, interval };
    },

    reserveUntil(slowness, until) {
      const isFree = 'attribute_not_exists(nextSlotAt) OR nextSlotAt = :free';
      return write(slowness, { nextSlotAt: until }, isFree, { ':free': slowness.nextSlotAt });
    },

    async beginWaiting(slowness) {
      const { backlogAt, waitingAt = 0, dueAt } = slowness;
      const moment = now();
      if (backlogAt !== undefined && dueAt !== undefined && moment - waitingAt < backlogRenewal) return;
      await dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { id: slownessId(slowness) },
          UpdateExpression: `SET accountId = :accountId, eventName = :eventName, waitingAt = :now, #ttl = :ttl,
            backlogAt = if_not_exists(backlogAt, :now),
            dueShard = if_not_exists(dueShard, :dueShard), dueAt = if_not_exists(dueAt, :dueAt)`,
          ExpressionAttributeNames: { '#ttl': 'ttl' },
          ExpressionAttributeValues: {
            ':accountId': slowness.accountId,
            ':eventName': slowness.eventName,
            ':now': moment,
            ':ttl': expiryAt(moment),
            ...prefixed(taskAttributes(slownessId(slowness), moment)),
          },
        }),
      );
    },

    claim({ id, dueAt }, until) {
      return writeItem(id, { dueAt: dueKey(until, id) }, 'dueAt = :seen', { ':seen': dueAt });
    },

    async endBacklog(slowness) {
      await write(slowness, { backlogAt: undefined }, 'waitingAt = :seen', { ':seen': slowness.waitingAt });
    },

    endWaiting(slowness) {
      const ended = { backlogAt: undefined, waitingAt: undefined, dueShard: undefined, dueAt: undefined };
      return write(slowness, ended, 'waitingAt = :seen', { ':seen': slowness.waitingAt });
    },
  };

  async function readItem(id: string): Promise<Item | undefined> {
    const [item] = await batchGet(dynamo, [{ table, key: { id } }]);
    return item;
  }

  async function readOf(owner: SlownessOwner): Promise<StoredSlowness> {
    return slownessOf(owner, await readItem(slownessId(owner)));
  }

  function write(owner: SlownessOwner, attributes: Item, condition: string, values: Item): Promise<boolean> {
    return writeItem(slownessId(owner), attributes, condition, values);
  }

  /** Writes attributes where a condition holds; those that are `undefined` are removed. Gives whether it held. */
  async function writeItem(id: string, attributes: Item, condition: string, values: Item): Promise<boolean> {
    const all = Object.entries({ ...attributes, ttl: expiryAt(now()) }).map(([name, value], index) => ({
      name,
      value,
      placeholder: `a${index}`,
    }));
    const set = all.filter(({ value }) => value !== undefined);
    const removed = all.filter(({ value }) => value === undefined);
    const setting = `SET ${set.map(({ placeholder }) => `#${placeholder} = :${placeholder}`).join(', ')}`;
    const removing = `REMOVE ${removed.map(({ placeholder }) => `#${placeholder}`).join(', ')}`;
    const answer = await conditionalWrite(
      dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { id },
          UpdateExpression: removed.length > 0 ? `${setting} ${removing}` : setting,
          ConditionExpression: condition,
          ExpressionAttributeNames: Object.fromEntries(all.map(({ name, placeholder }) => [`#${placeholder}`, name])),
          ExpressionAttributeValues: {
            ...Object.fromEntries(set.map(({ value, placeholder }) => [`:${placeholder}`, value])),
            ...values,
          },
        }),
      ),
    );
    return answer !== undefined;
  }

  /** The slots after those that others have reserved. `length`: how long all of them take, in milliseconds. */
  async function reserveAfterOthers(owner: SlownessOwner, length: number, moment: number) {
    const answer = await conditionalWrite(
      dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { id: slownessId(owner) },
          UpdateExpression: 'SET nextSlotAt = nextSlotAt + :length',
          ConditionExpression: 'nextSlotAt BETWEEN :now AND :furthest',
          ExpressionAttributeValues: { ':length': length, ':now': moment, ':furthest': moment + furthestSlot },
          ReturnValues: 'UPDATED_OLD',
        }),
      ),
    );
    return answer && Number(answer.Attributes?.nextSlotAt);
  }

  /** Slots from now on, where the last one is over. */
  async function reserveFirst({ accountId, eventName }: SlownessOwner, length: number, moment: number) {
    const owner = { accountId, eventName };
    const isOver = 'attribute_not_exists(nextSlotAt) OR nextSlotAt < :now';
    const isReserved = await write(owner, { ...owner, nextSlotAt: moment + length }, isOver, { ':now': moment });
    return isReserved ? moment : undefined;
  }
}

const unchanged = 'attribute_not_exists(version) OR version = :seen';

/** A change that loses races is tried so often. */
const maxTries = 6;

/** An item that nobody writes any more is cleaned up after 40 days: long after whatever may wait has ended. */
function expiryAt(moment: number): number {
  return Math.ceil(moment / 1_000) + 40 * 24 * 60 * 60;
}

function prefixed(attributes: Item): Item {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value]));
}
