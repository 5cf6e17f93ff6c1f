import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/aws/batch-get.ts';
import { conditionalWrite, type Item, type ItemKey, type StoreParts } from '../../platform/aws/dynamo.ts';
import { conditionOf, type Expression, expression, updateItem } from '../../platform/aws/update-item.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import { cleanUpAt, taskAttributes } from '../store/delivery-item.ts';
import { headKey } from '../store/head-key.ts';
import { type PastReplay, progressAt, type Replay } from './replay.ts';

/*
 * Table `Deliveries`, item `replays#<accountId>#<eventName>`: a webhook's latest replay. It is one item, so that one
 * conditional write keeps replays of a webhook from running at the same time. Before the next replay begins, what is kept of
 * the last one is put into an item of its own under the same id, `past#<replayId>`, and shown as long as the latest.
 *
 * While the replay is running its item is in index `due`, where the sweeper finds it every minute. A process claims the replay
 * before it works on it: `claim` grows (a fencing token), and what an earlier claimant saves is refused. Before deliveries are
 * sent, their ids (`inFlight`) and the cursor behind them are saved; the count of sent deliveries is saved afterwards. A
 * delivery in flight that was sent but not saved is recognised by its `replayId`.
 *
 * Ten deliveries a second: each has a slot, and `nextSlotAt` is the first free one. A conditional write moves it on before the
 * slots are used. So no two deliveries have the same slot, even if several processes work on the replay without knowing of each
 * other; what a crash leaves unused is time lost, never a delivery.
 */

/** The prefix of the items' ids, by which the sweeper finds the task. */
export const replaysPrefix = 'replays';

/** Returns the id under which a webhook's replays stand. */
export function replaysId({ accountId, eventName }: Pick<Replay, 'accountId' | 'eventName'>): string {
  return `${replaysPrefix}#${accountId}#${eventName}`;
}

/** A replay of a webhook, and the webhook's latest replay. */
export interface FoundReplay {
  readonly replay: PastReplay;
  readonly latest: Replay;
}

export type ReplayStore = ReturnType<typeof makeReplayStore>;

/** Makes the reader of replays over the table `Deliveries`: all that an attempt needs of them. It reads consistently. */
export function makeReplayReader({ dynamo, table, now }: StoreParts) {
  return { findLatest, find, read };

  function findLatest(accountId: string, eventName: EventName): Promise<Replay | undefined> {
    return read(idOf(accountId, eventName));
  }

  /** Finds one of a webhook's replays: first the latest, since an earlier one is kept before it is replaced. */
  async function find(accountId: string, eventName: EventName, replayId: string): Promise<FoundReplay | undefined> {
    const latest = await findLatest(accountId, eventName);
    if (!latest) return undefined;
    if (latest.id === replayId) return { replay: latest, latest };
    const [past] = await readAlive([pastKey(table, idOf(accountId, eventName), replayId)]);
    return past && { replay: replayFromItem(past), latest };
  }

  /** Reads by the item's id, as index `due` has it. */
  async function read(itemId: string): Promise<Replay | undefined> {
    const [item] = await readAlive([headKey(table, itemId)]);
    return item && replayFromItem(item);
  }

  async function readAlive(keys: readonly ItemKey[]): Promise<(Item | undefined)[]> {
    const items = await batchGet(dynamo, keys);
    const isExpired = (item: Item | undefined) =>
      typeof item?.ttl === 'number' && item.ttl <= Math.floor(now() / 1_000);
    return items.map(item => (isExpired(item) ? undefined : item));
  }
}

/** Makes the store of replays over the table `Deliveries`. */
export function makeReplayStore({ dynamo, table, now }: StoreParts) {
  const reader = makeReplayReader({ dynamo, table, now });
  return { ...reader, start, claim, save, end, hide, cancel };

  /** Starts a replay in place of the latest that was read. False: that has changed, or there is another. */
  async function start(replay: Replay, latest: Replay | undefined): Promise<boolean> {
    const { id: replayId, accountId, eventName } = replay;
    if (latest) await archive(latest);
    const id = idOf(accountId, eventName);
    const condition = latest
      ? isAsRead(latest)
      : expression`attribute_not_exists(id) OR ttl <= ${Math.floor(now() / 1_000)}`;
    const Item = { ...replay, ...headKey(table, id).key, replayId, ...taskAttributes(id, replay.lookAt) };
    const put = new PutCommand({ TableName: table, Item, ...conditionOf(condition) });
    if (await conditionalWrite(dynamo(put))) return true;
    // The SDK repeats a write whose answer was lost: the stored replay may be our own.
    return (await reader.findLatest(accountId, eventName))?.id === replayId;
  }

  /** Puts what is kept of a replay into its own item. It can be repeated: a hidden replay stays hidden. */
  async function archive(latest: Replay): Promise<void> {
    const { id: replayId, ...past } = pastReplayOf(latest, now());
    const { key } = pastKey(table, idOf(latest.accountId, latest.eventName), replayId);
    const ttl = cleanUpAt(past.endedAt ?? now());
    const put = new PutCommand({
      TableName: table,
      Item: { ...past, ...key, replayId, ttl },
      ConditionExpression: 'attribute_not_exists(isHidden)',
    });
    await conditionalWrite(dynamo(put));
  }

  /** Claims a replay until `lookAt`. `undefined`: another process has claimed it, or it has ended. */
  function claim(replay: Replay, lookAt: number): Promise<Replay | undefined> {
    const { dueAt } = taskAttributes(idOf(replay.accountId, replay.eventName), lookAt);
    return update(replay, {
      set: { claim: replay.claim + 1, lookAt, dueAt },
      when: expression`state = ${'running'} AND claim = ${replay.claim}`,
    });
  }

  /**
   * Saves the progress of a claimed replay, and returns it after that. `undefined`: another process has claimed it. A cancelled
   * replay is saved too: what was sent before that was noticed still counts.
   */
  function save(replay: Replay): Promise<Replay | undefined> {
    const { total, countCursor, sent, lastSlotAt, sendCursor, inFlight, nextSlotAt, servedAt } = replay;
    return update(replay, {
      set: { total, countCursor, sent, lastSlotAt, sendCursor, inFlight, nextSlotAt, servedAt },
      when: expression`claim = ${replay.claim}`,
    });
  }

  /** Ends a claimed replay. False: another process has claimed it, or it has ended. */
  function end(replay: Replay, state: 'completed' | 'cancelled'): Promise<boolean> {
    return finish(replay, state, expression`state = ${'running'} AND claim = ${replay.claim}`);
  }

  /** Cancels a replay, claimed or not: deliveries before their slots are not sent. False: it has ended. */
  function cancel(replay: Replay): Promise<boolean> {
    const isDone = expression`state = ${'completed'} AND lastSlotAt > ${now()}`;
    return finish(replay, 'cancelled', expression`(state = ${'running'} OR (${isDone}))`);
  }

  async function finish(replay: Replay, state: 'completed' | 'cancelled', when: Expression): Promise<boolean> {
    const moment = now();
    const finished = await update(replay, {
      set: { state, endedAt: moment, ttl: cleanUpAt(moment), dueShard: undefined, dueAt: undefined },
      when,
    });
    return finished !== undefined;
  }

  /** Hides a replay that has ended. False: it is running, or was replaced by another. */
  async function hide({ replay, latest: { id: latestId, accountId, eventName } }: FoundReplay): Promise<boolean> {
    const id = idOf(accountId, eventName);
    const hidden = await updateItem(
      dynamo,
      replay.id === latestId ? headKey(table, id) : pastKey(table, id, replay.id),
      {
        set: { isHidden: true },
        when: expression`replayId = ${replay.id} AND state <> ${'running'}`,
      },
    );
    return hidden !== undefined;
  }

  /** Returns the replay after the update; `undefined` when the condition does not hold. */
  async function update(
    { accountId, eventName, id }: Replay,
    { set, when }: { readonly set: Item; readonly when: Expression },
  ): Promise<Replay | undefined> {
    const item = await updateItem(dynamo, headKey(table, idOf(accountId, eventName)), {
      set,
      when: expression`replayId = ${id} AND ${when}`,
      returns: 'ALL_NEW',
    });
    return item && replayFromItem(item);
  }
}

function idOf(accountId: string, eventName: EventName): string {
  return replaysId({ accountId, eventName });
}

function replayFromItem({ id: _, part, dueShard, dueAt, ttl, replayId, ...replay }: Item): Replay {
  // biome-ignore lint/plugin/unchecked-assertions: only this file writes such items.
  return { ...replay, id: replayId } as unknown as Replay;
}

function pastKey(table: string, id: string, replayId: string): ItemKey {
  return { table, key: { id, part: `past#${replayId}` } };
}

/** A replay that is still running counts as cancelled when the next one begins. */
function pastReplayOf(replay: Replay, now: number): PastReplay {
  const { id, wanted, total, countCursor, endedAt = now, isHidden } = replay;
  const { state, sent } = progressAt(replay, now);
  return {
    id,
    wanted,
    state: state === 'running' ? 'cancelled' : state,
    total,
    sent,
    countCursor,
    endedAt,
    ...(isHidden === undefined ? {} : { isHidden }),
  };
}

/** Returns the condition that the latest replay has not changed since it was read. */
function isAsRead({ id, state, claim, isHidden }: Replay): Expression {
  const isHiddenAsRead = isHidden ? expression`attribute_exists(isHidden)` : expression`attribute_not_exists(isHidden)`;
  return expression`replayId = ${id} AND state = ${state} AND claim = ${claim} AND ${isHiddenAsRead}`;
}
