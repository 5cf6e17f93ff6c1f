import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { type Item, type ItemKey, isConditionFailed, readTogether } from '../../platform/dynamo.ts';
import { type EventName, eventNameSchema } from '../../webhooks/webhook.ts';
import { dueKey, taskAttributes } from '../delivery-item.ts';
import type { DueEntry } from '../delivery-store.ts';
import { backlogRenewal, furthestSlot } from '../limits.ts';
import { reserveSlot, type Slowness, slotInterval } from './slowness.ts';

/*
 * How slowly the receiver of an account's event answers: item `slowness#<accountId>#<eventName>` of table `Deliveries`. It
 * belongs to the event and not to the registration, so that neither a PUT nor a new registration shortens it.
 *
 * Three parts of it are written independently of each other:
 *   - the tally and what follows from it, read and written back under the condition that `version` did not change;
 *   - `nextSlotAt`, the next free turn, moved on by whoever reserves one;
 *   - the backlog. `backlogAt`: arrivals wait in the table, behind what waits there. `waitingAt`: the last time an
 *     arrival was about to be stored. While it is set the item stands in index `due`, as the sweeper's task to give
 *     turns to what waits (`slow-backlog.ts`).
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

/** Reads and writes slowness. All reads are consistent. */
export interface SlownessStore {
  read(id: string): Promise<StoredSlowness | undefined>;
  /**
   * Changes the slowness by a pure function; `undefined` changes nothing. A write that loses a race is made again of what
   * is stored then, a few times. Gives what is stored afterwards.
   */
  change(owner: SlownessOwner, by: (slowness: Slowness) => Slowness | undefined): Promise<StoredSlowness>;
  /** Reserves the next turn of a webhook. `undefined`: it is too far off. */
  reserve(slowness: StoredSlowness): Promise<number | undefined>;
  /** Takes the turns from one moment to another for the sweeper. False: somebody else reserved meanwhile. */
  reserveUntil(slowness: StoredSlowness, until: number): Promise<boolean>;
  /** Notes that a delivery is about to wait in the table. Must be stored before the delivery is. */
  beginWaiting(slowness: StoredSlowness): Promise<void>;
  /** Claims the sweeper's task until a later moment. False: another sweeper was quicker. */
  claim(entry: DueEntry, until: number): Promise<boolean>;
  /** Lets arrivals reserve turns again: nothing waits that was seen. */
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

/** Makes the store over the table `Deliveries`. `rate`: turns a second that a slow webhook has at most. */
export function makeSlownessStore({
  dynamo,
  table,
  now,
  rate,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
  readonly rate: number;
}): SlownessStore {
  const address = (id: string): ItemKey => ({ table, key: { id } });

  const read = async (owner: SlownessOwner) => {
    const [item] = await readTogether(dynamo, [address(slownessId(owner))]);
    return slownessOf(owner, item);
  };

  /** Writes attributes where a condition holds; those that are `undefined` are removed. Says whether it held. */
  const write = async (id: string, attributes: Item, condition: string, values: Item): Promise<boolean> => {
    const kept = Object.entries({ ...attributes, ttl: Math.ceil(now() / 1_000) + longestKept });
    const names = Object.fromEntries(kept.map(([name], index) => [`#a${index}`, name]));
    const set = kept.flatMap(([, value], index) => (value === undefined ? [] : [`#a${index} = :a${index}`]));
    const removed = kept.flatMap(([, value], index) => (value === undefined ? [`#a${index}`] : []));
    const update = `SET ${set.join(', ')}${removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : ''}`;
    const written = kept.flatMap(([, value], index) => (value === undefined ? [] : [[`:a${index}`, value] as const]));
    try {
      await dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { id },
          UpdateExpression: update,
          ConditionExpression: condition,
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: { ...Object.fromEntries(written), ...values },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

  /** The turn after those that others have reserved. */
  const reserveSlotAfterOthers = async (owner: SlownessOwner, interval: number, moment: number) => {
    try {
      const { Attributes } = await dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { id: slownessId(owner) },
          UpdateExpression: 'SET nextSlotAt = nextSlotAt + :interval',
          ConditionExpression: 'nextSlotAt BETWEEN :now AND :furthest',
          ExpressionAttributeValues: { ':interval': interval, ':now': moment, ':furthest': moment + furthestSlot },
          ReturnValues: 'UPDATED_OLD',
        }),
      );
      return Number(Attributes?.nextSlotAt);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

  /** A turn now: the last one is over. */
  const reserveFirstSlot = async ({ accountId, eventName }: SlownessOwner, interval: number, moment: number) => {
    const attributes = { accountId, eventName, nextSlotAt: moment + interval };
    const isOver = 'attribute_not_exists(nextSlotAt) OR nextSlotAt < :now';
    const owner = { accountId, eventName };
    return (await write(slownessId(owner), attributes, isOver, { ':now': moment })) ? moment : undefined;
  };

  const unchanged = 'attribute_not_exists(version) OR version = :seen';

  return {
    read: async id => {
      const [item] = await readTogether(dynamo, [address(id)]);
      return (
        item &&
        slownessOf({ accountId: String(item.accountId), eventName: eventNameSchema.parse(item.eventName) }, item)
      );
    },

    change: async ({ accountId, eventName }, by) => {
      const owner = { accountId, eventName }; // callers have a webhook at hand: its secrets do not belong here
      let slowness = await read(owner);
      for (let tries = 1; ; tries++) {
        const changed = by(slowness);
        if (!changed) return slowness;
        const { tallies, slowSince, reachedAt, hold, endedAt, longestAttempt, measuredAt } = changed;
        const learnt = { tallies, slowSince, reachedAt, hold, endedAt, longestAttempt, measuredAt };
        const version = slowness.version + 1;
        const isWritten = await write(slownessId(owner), { ...owner, ...learnt, version }, unchanged, {
          ':seen': slowness.version,
        });
        if (isWritten) return { ...slowness, ...learnt, version };
        slowness = await read(owner);
        if (tries === mostTries) return slowness;
      }
    },

    reserve: async slowness => {
      const interval = slotInterval(slowness, rate);
      const moment = now();
      if (!reserveSlot(slowness.nextSlotAt, interval, moment)) return undefined;
      const after = () => reserveSlotAfterOthers(slowness, interval, moment);
      const first = () => reserveFirstSlot(slowness, interval, moment);
      // Where the last turn that was read is over, nobody else may have reserved since. If they have, the other one holds.
      const asRead = slowness.nextSlotAt < moment ? await first() : undefined;
      return asRead ?? (await after()) ?? (await first()) ?? (await after());
    },

    reserveUntil: (slowness, until) =>
      write(slownessId(slowness), { nextSlotAt: until }, 'attribute_not_exists(nextSlotAt) OR nextSlotAt = :free', {
        ':free': slowness.nextSlotAt,
      }),

    beginWaiting: async slowness => {
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
            ':ttl': Math.ceil(moment / 1_000) + longestKept,
            ...prefixed(taskAttributes(slownessId(slowness), moment)),
          },
        }),
      );
    },

    claim: ({ id, dueAt }, until) => write(id, { dueAt: dueKey(until, id) }, 'dueAt = :seen', { ':seen': dueAt }),

    endBacklog: async slowness => {
      await write(slownessId(slowness), { backlogAt: undefined }, 'waitingAt = :seen', { ':seen': slowness.waitingAt });
    },

    endWaiting: slowness =>
      write(
        slownessId(slowness),
        { backlogAt: undefined, waitingAt: undefined, dueShard: undefined, dueAt: undefined },
        'waitingAt = :seen',
        { ':seen': slowness.waitingAt },
      ),
  };
}

/** An item that nobody writes any more is cleaned up after this many seconds: long after whatever may wait has ended. */
const longestKept = 40 * 24 * 60 * 60;

/** Writers that race each other read anew so often. */
const mostTries = 6;

function prefixed(attributes: Item): Item {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value]));
}
