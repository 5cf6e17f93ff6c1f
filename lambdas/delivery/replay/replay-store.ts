import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import type { Clock } from '../../platform/clock.ts';
import { conditionalWrite, type Item } from '../../platform/dynamo.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import { cleanUpAt, taskAttributes } from '../store/delivery-item.ts';
import { type PastReplay, progressAt, type Replay } from './replay.ts';

/*
 * Table `Deliveries`, item `replays#<accountId>#<eventName>`: a webhook's latest replay. It is one item, so that one
 * conditional write keeps replays of a webhook from running at the same time. Before the next replay begins, what is kept of
 * the last one is put into an item of its own, `replays#<accountId>#<eventName>#<replayId>`, and shown as long as the latest.
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

/** A replay of a webhook, and the webhook's latest replay. */
export interface FoundReplay {
  readonly replay: PastReplay;
  readonly latest: Replay;
}

/** Reads the replays of all webhooks, consistently. */
interface ReplayReader {
  /** A webhook's latest replay. */
  findLatest(accountId: string, eventName: EventName): Promise<Replay | undefined>;
  /** One of a webhook's replays. */
  find(accountId: string, eventName: EventName, replayId: string): Promise<FoundReplay | undefined>;
  /** Reads by the item's id, as index `due` gives it. */
  read(itemId: string): Promise<Replay | undefined>;
}

/** The replays of all webhooks. */
export interface ReplayStore extends ReplayReader {
  /** Starts a replay in place of the latest that was read. False: that has changed, or there is another. */
  start(replay: Replay, latest: Replay | undefined): Promise<boolean>;
  /** Claims a replay until `lookAt`. `undefined`: another process has claimed it, or it has ended. */
  claim(replay: Replay, lookAt: number): Promise<Replay | undefined>;
  /** Saves the progress of a claimed replay, and gives it after that. `undefined`: another process has claimed it. */
  save(replay: Replay): Promise<Replay | undefined>;
  /** Ends a claimed replay. False: another process has claimed it, or it has ended. */
  end(replay: Replay, state: 'completed' | 'cancelled'): Promise<boolean>;
  /** Cancels a replay, claimed or not: deliveries before their slots are not sent. False: it has ended. */
  cancel(replay: Replay): Promise<boolean>;
  /** Hides a replay that has ended. False: it is running, or was replaced by another. */
  hide(found: FoundReplay): Promise<boolean>;
}

/** Makes the reader of replays over the table `Deliveries`: all that an attempt needs of them. */
export function makeReplayReader({
  dynamo,
  table,
  now,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
}): ReplayReader {
  return {
    findLatest(accountId, eventName) {
      return read(idOf(accountId, eventName));
    },

    async find(accountId, eventName, replayId) {
      const ids = [idOf(accountId, eventName), pastIdOf(accountId, eventName, replayId)];
      const [latestItem, pastItem] = await readAlive(ids);
      if (!latestItem) return undefined;
      const latest = replayFromItem(latestItem);
      if (latest.id === replayId) return { replay: latest, latest };
      return pastItem && { replay: replayFromItem(pastItem), latest };
    },

    read,
  };

  async function read(itemId: string): Promise<Replay | undefined> {
    const [item] = await readAlive([itemId]);
    return item && replayFromItem(item);
  }

  async function readAlive(ids: readonly string[]): Promise<(Item | undefined)[]> {
    const items = await batchGet(
      dynamo,
      ids.map(id => ({ table, key: { id } })),
    );
    const isExpired = (item: Item | undefined) =>
      typeof item?.ttl === 'number' && item.ttl <= Math.floor(now() / 1_000);
    return items.map(item => (isExpired(item) ? undefined : item));
  }
}

/**
 * Makes the store of replays.
 *
 * @param dependencies - `table`: the table `Deliveries`; `historyDays`: how long a replay is shown after its end.
 */
export function makeReplayStore(dependencies: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
  readonly historyDays: number;
}): ReplayStore {
  const { dynamo, table, now, historyDays } = dependencies;
  const reader = makeReplayReader(dependencies);

  /** Gives the replay after the update; `undefined` when the condition does not hold. */
  const update = async (
    { accountId, eventName, id }: Replay,
    change: { set: string; remove?: string; when: string; values: Item; names?: Record<string, string> },
  ): Promise<Replay | undefined> => {
    const command = new UpdateCommand({
      TableName: table,
      Key: { id: idOf(accountId, eventName) },
      UpdateExpression: `SET ${change.set}${change.remove ? ` REMOVE ${change.remove}` : ''}`,
      ConditionExpression: `#replay = :replay AND ${change.when}`,
      ExpressionAttributeNames: { '#replay': 'replayId', ...change.names },
      ExpressionAttributeValues: { ':replay': id, ...change.values },
      ReturnValues: 'ALL_NEW',
    });
    const item = (await conditionalWrite(dynamo.send(command)))?.Attributes;
    return item && replayFromItem(item);
  };

  const finish = (replay: Replay, state: 'completed' | 'cancelled', when: string, values: Item) =>
    update(replay, {
      set: '#state = :ended, endedAt = :now, #ttl = :ttl',
      remove: 'dueShard, dueAt',
      when,
      names: { '#state': 'state', '#ttl': 'ttl' },
      values: {
        ':ended': state,
        ':running': 'running',
        ':now': now(),
        ':ttl': cleanUpAt(now(), historyDays),
        ...values,
      },
    });

  /** Puts what is kept of a replay into its own item. It can be repeated: a hidden replay stays hidden. */
  const archive = async (latest: Replay) => {
    const { id: replayId, ...past } = pastReplayOf(latest, now());
    const id = pastIdOf(latest.accountId, latest.eventName, replayId);
    const ttl = cleanUpAt(past.endedAt ?? now(), historyDays);
    const put = new PutCommand({
      TableName: table,
      Item: { ...past, id, replayId, ttl },
      ConditionExpression: 'attribute_not_exists(isHidden)',
    });
    await conditionalWrite(dynamo.send(put));
  };

  return {
    ...reader,

    start: async (replay, latest) => {
      const { id: replayId, accountId, eventName } = replay;
      if (latest) await archive(latest);
      const id = idOf(accountId, eventName);
      const condition = latest
        ? {
            ConditionExpression: `#replay = :seen AND #state = :state AND claim = :claim AND ${isHiddenAsIn(latest)}`,
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: { ':seen': latest.id, ':state': latest.state, ':claim': latest.claim },
          }
        : {
            ConditionExpression: 'attribute_not_exists(id) OR #ttl <= :now',
            ExpressionAttributeNames: { '#ttl': 'ttl' },
            ExpressionAttributeValues: { ':now': Math.floor(now() / 1_000) },
          };
      const Item = { ...replay, id, replayId, ...taskAttributes(id, replay.lookAt) };
      if (await conditionalWrite(dynamo.send(new PutCommand({ TableName: table, Item, ...condition })))) return true;
      // The SDK repeats a write whose answer was lost: the stored replay may be our own.
      return (await reader.findLatest(accountId, eventName))?.id === replayId;
    },

    claim: (replay, lookAt) =>
      update(replay, {
        set: 'claim = :next, lookAt = :lookAt, dueAt = :dueAt',
        when: '#state = :running AND claim = :claim',
        names: { '#state': 'state' },
        values: {
          ':running': 'running',
          ':claim': replay.claim,
          ':next': replay.claim + 1,
          ':lookAt': lookAt,
          ':dueAt': taskAttributes(idOf(replay.accountId, replay.eventName), lookAt).dueAt,
        },
      }),

    // A cancelled replay is saved too: what was sent before that was noticed still counts.
    save: replay =>
      update(replay, {
        set: '#total = :total, countCursor = :countCursor, sent = :sent, lastSlotAt = :lastSlotAt, sendCursor = :sendCursor, inFlight = :inFlight, nextSlotAt = :nextSlotAt',
        when: 'claim = :claim',
        names: { '#total': 'total' },
        values: {
          ':total': replay.total,
          ':countCursor': replay.countCursor,
          ':sent': replay.sent,
          ':lastSlotAt': replay.lastSlotAt,
          ':sendCursor': replay.sendCursor,
          ':inFlight': replay.inFlight,
          ':nextSlotAt': replay.nextSlotAt,
          ':claim': replay.claim,
        },
      }),

    end: async (replay, state) =>
      (await finish(replay, state, '#state = :running AND claim = :claim', { ':claim': replay.claim })) !== undefined,

    hide: async ({ replay, latest: { id: latestId, accountId, eventName } }) => {
      const isLatest = replay.id === latestId;
      const command = new UpdateCommand({
        TableName: table,
        Key: { id: isLatest ? idOf(accountId, eventName) : pastIdOf(accountId, eventName, replay.id) },
        UpdateExpression: 'SET isHidden = :yes',
        ConditionExpression: '#replay = :replay AND #state <> :running',
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: { ':yes': true, ':replay': replay.id, ':running': 'running' },
      });
      return (await conditionalWrite(dynamo.send(command))) !== undefined;
    },

    cancel: async replay => {
      const isCancellable = '(#state = :running OR (#state = :done AND lastSlotAt > :now))';
      return (await finish(replay, 'cancelled', isCancellable, { ':done': 'completed' })) !== undefined;
    },
  };
}

function idOf(accountId: string, eventName: EventName): string {
  return `${replaysPrefix}#${accountId}#${eventName}`;
}

function replayFromItem({ id: _, dueShard, dueAt, ttl, replayId, ...replay }: Item): Replay {
  return { ...replay, id: replayId } as unknown as Replay;
}

function pastIdOf(accountId: string, eventName: EventName, replayId: string): string {
  return `${idOf(accountId, eventName)}#${replayId}`;
}

const names = { '#replay': 'replayId', '#state': 'state' };

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

/** The condition that `isHidden` has not changed since the replay was read. */
function isHiddenAsIn({ isHidden }: Replay): string {
  return isHidden ? 'attribute_exists(isHidden)' : 'attribute_not_exists(isHidden)';
}
