import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/aws/batch-get.ts';
import { conditionalWrite, type Item, type ItemKey, type StoreParts } from '../../platform/aws/dynamo.ts';
import { conditionOf, type Expression, expression, updateItem } from '../../platform/aws/update-item.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import { cleanUpAt, replayAttributes } from '../store/delivery-item.ts';
import { headKey } from '../store/head-key.ts';
import type { Replay } from './replay.ts';

/*
 * Item `replays#<accountId>#<eventName>` in table `Deliveries` is the latest replay of a webhook. Because it is one item, a conditional write
 * prevents concurrent replays of a webhook. Before the next replay starts, the latest one is copied to the item `past#<replayId>` under the
 * same id.
 *
 * While the replay is running, its item is in the `due` index, which each sweep reads. Several processes may run the replay at once, because
 * a conditional write restarts each delivery and changes its state.
 */

/** The id prefix for replay items in table `Deliveries`. */
export const replaysPrefix = 'replays';

/** Returns the id of a webhook's replay items. */
export function replaysId({ accountId, eventName }: Pick<Replay, 'accountId' | 'eventName'>): string {
  return `${replaysPrefix}#${accountId}#${eventName}`;
}

export type ReplayStore = ReturnType<typeof makeReplayStore>;

/** Creates the store of replays in table `Deliveries`. Reads are strongly consistent. */
export function makeReplayStore({ dynamo, table, now }: StoreParts) {
  return { findLatest, find, read, start, save, end, delete: deleteReplay };

  function findLatest(accountId: string, eventName: EventName): Promise<Replay | undefined> {
    return read(replaysId({ accountId, eventName }));
  }

  /** Finds a replay of a webhook. Reads the latest replay first, because a replay is copied before the next one replaces it. */
  async function find(accountId: string, eventName: EventName, replayId: string): Promise<Replay | undefined> {
    const latest = await findLatest(accountId, eventName);
    return latest?.id === replayId ? latest : readUnexpired(pastKey(accountId, eventName, replayId));
  }

  /** Reads the latest replay by the id of its item, which the `due` index contains. */
  function read(itemId: string): Promise<Replay | undefined> {
    return readUnexpired(headKey(table, itemId));
  }

  async function readUnexpired(key: ItemKey): Promise<Replay | undefined> {
    const [item] = await batchGet(dynamo, [key]);
    const hasExpired = typeof item?.ttl === 'number' && item.ttl <= nowInSeconds();
    return item && !hasExpired ? replayFromItem(item) : undefined;
  }

  /** Starts a replay, which replaces `latest`. Returns false if another process replaced `latest` first. */
  async function start(replay: Replay, latest: Replay | undefined): Promise<boolean> {
    if (latest) await archive(latest);
    const { id: replayId, accountId, eventName } = replay;
    const id = replaysId(replay);
    const condition = latest
      ? expression`replayId = ${latest.id}`
      : expression`attribute_not_exists(id) OR ttl <= ${nowInSeconds()}`;
    const Item = { ...replay, ...headKey(table, id).key, replayId, ...replayAttributes(id, replay.startedAt) };
    const put = new PutCommand({ TableName: table, Item, ...conditionOf(condition) });
    if (await conditionalWrite(dynamo(put))) return true;
    // The SDK repeats a write if its response was lost, so the stored replay may be this one.
    return (await findLatest(accountId, eventName))?.id === replayId;
  }

  /** Copies a replay before the next one replaces it, unless the replay was deleted. A running replay ends as cancelled. */
  async function archive(latest: Replay): Promise<void> {
    const { id: replayId, accountId, eventName, state, endedAt = now() } = latest;
    const ended = { state: state === 'running' ? 'cancelled' : state, endedAt, ttl: cleanUpAt(endedAt) };
    const Item = { ...latest, ...ended, replayId, ...pastKey(accountId, eventName, replayId).key };
    const isNew = expression`attribute_not_exists(id)`;
    await conditionalWrite(dynamo(new PutCommand({ TableName: table, Item, ...conditionOf(isNew) })));
  }

  /** Saves the progress of a replay, even if it was cancelled. Returns the stored replay, or `undefined` if it was replaced. */
  async function save(replay: Replay): Promise<Replay | undefined> {
    const { sent, pass, cursor } = replay;
    const item = await update(replay, { sent, pass, cursor });
    return item && replayFromItem(item);
  }

  /** Ends a running replay. If it completed, stores the progress of the last page. Returns false if the replay had already ended. */
  async function end(replay: Replay, state: 'completed' | 'cancelled'): Promise<boolean> {
    const endedAt = now();
    const sent = state === 'completed' && { sent: replay.sent };
    const ended = { ...sent, state, endedAt, ttl: cleanUpAt(endedAt), dueShard: undefined, dueAt: undefined };
    return (await update(replay, ended, expression`state = ${'running'}`)) !== undefined;
  }

  /** Deletes a replay that has ended. Marks its copy first, so a concurrent start that has read the replay cannot copy it again. */
  async function deleteReplay(replay: Replay): Promise<void> {
    const { id, accountId, eventName } = replay;
    const expired = { ttl: nowInSeconds() - clockTolerance };
    await updateItem(dynamo, pastKey(accountId, eventName, id), { set: expired });
    await update(replay, expired, expression`state <> ${'running'}`);
  }

  /** Updates a replay if it is still the latest one and the condition is met. Returns its updated item. */
  function update(
    replay: Pick<Replay, 'id' | 'accountId' | 'eventName'>,
    set: Item,
    when?: Expression,
  ): Promise<Item | undefined> {
    const isSame = expression`replayId = ${replay.id}`;
    return updateItem(dynamo, headKey(table, replaysId(replay)), {
      set,
      when: when ? expression`${isSame} AND ${when}` : isSame,
      returns: 'ALL_NEW',
    });
  }

  function pastKey(accountId: string, eventName: EventName, replayId: string): ItemKey {
    return { table, key: { id: replaysId({ accountId, eventName }), part: `past#${replayId}` } };
  }

  function nowInSeconds(): number {
    return Math.floor(now() / 1_000);
  }
}

function replayFromItem({ id: _, part, dueShard, dueAt, ttl, replayId, ...replay }: Item): Replay {
  // biome-ignore lint/plugin/unchecked-assertions: only this file writes such items.
  return { ...replay, id: replayId } as unknown as Replay;
}

/** The maximum difference between the clocks of processes, in seconds. */
const clockTolerance = 60;
