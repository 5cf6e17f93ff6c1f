import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Item, isConditionFailed } from '../../platform/dynamo.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import { cleanUpAt, taskAttributes } from '../delivery-item.ts';
import { type PastReplay, progressAt, type Replay } from './replay.ts';

/*
 * Table `Deliveries`, item `reenvios#<accountId>#<eventName>`: a webhook's latest replay. One item, so that one conditional
 * write keeps replays of a webhook from running side by side. What remains of an earlier one is put into an item of its
 * own, `reenvios#<accountId>#<eventName>#<replayId>`, before the next one begins, and shown for as long as the latest is.
 *
 * While the replay is under way the item stands in index `due`, where the sweeper finds it every minute. Whoever works on
 * it claims it first: `claim` grows, and what an earlier claimant saves is refused. Before deliveries are sent they are
 * taken in hand: their ids (`inHand`) and the place behind them are saved. The count of what was sent is saved after that.
 * What was sent but not saved is recognised by the `replayId` of the deliveries in hand.
 *
 * Ten deliveries a second: each has a turn, and `paceAt` is when the next turn is that nobody has. It is moved on, by a
 * conditional write like any other, before the turns are used. So no two deliveries ever have the same one, however many
 * work on the replay without knowing of each other; what a crash leaves unused is time lost, never a delivery.
 */

/** The id of the item; its prefix tells the sweeper what it is. */
export const replaysPrefix = 'reenvios';

/** A replay of a webhook, and the webhook's latest. */
export interface FoundReplay {
  readonly replay: PastReplay;
  readonly latest: Replay;
}

/** The replays of all webhooks. Reads are consistent. */
export interface ReplayStore {
  /** A webhook's latest replay. */
  findLatest(accountId: string, eventName: EventName): Promise<Replay | undefined>;
  /** One of a webhook's replays. */
  find(accountId: string, eventName: EventName, replayId: string): Promise<FoundReplay | undefined>;
  /** Reads by the id of the item, as index `due` gives it. */
  read(itemId: string): Promise<Replay | undefined>;
  /** Begins a replay in place of the latest that was found. False: that one has gone on since, or there is another. */
  start(replay: Replay, latest: Replay | undefined): Promise<boolean>;
  /** Takes a replay in hand until `lookAt`. Nothing: it is in other hands, or ended. */
  claim(replay: Replay, lookAt: number): Promise<Replay | undefined>;
  /** Saves how far a claimed replay has come, and gives it as it is then. Nothing: it is in other hands. */
  save(replay: Replay): Promise<Replay | undefined>;
  /** Ends a claimed replay. False: it is in other hands, or ended. */
  end(replay: Replay, state: 'completed' | 'cancelled'): Promise<boolean>;
  /** Cancels a replay, whoever has it in hand: what has not had its turn is not sent. False: it has ended. */
  cancel(replay: Replay): Promise<boolean>;
  /** Has a replay that ended shown no more. False: it has not ended, or is another one by now. */
  forget(found: FoundReplay): Promise<boolean>;
}

/** What the store is made of. */
export interface ReplayStoreDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Deliveries`. */
  readonly table: string;
  readonly now: Clock;
  /** How long a replay is shown after it ended. */
  readonly historyDays: number;
}

/** Makes the store. */
export function makeReplayStore({ dynamo, table, now, historyDays }: ReplayStoreDependencies): ReplayStore {
  const nowInSeconds = () => Math.floor(now() / 1_000);

  const readAlive = async (ids: readonly string[]): Promise<(Item | undefined)[]> => {
    const items = await batchGet(
      dynamo,
      ids.map(id => ({ table, key: { id } })),
    );
    const isOver = (item: Item | undefined) => typeof item?.ttl === 'number' && item.ttl <= nowInSeconds();
    return items.map(item => (isOver(item) ? undefined : item));
  };

  const readItem = async (id: string): Promise<Item | undefined> => (await readAlive([id]))[0];

  const findLatest: ReplayStore['findLatest'] = async (accountId, eventName) => {
    const item = await readItem(idOf(accountId, eventName));
    return item && replayFromItem(item);
  };

  const find: ReplayStore['find'] = async (accountId, eventName, replayId) => {
    const ids = [idOf(accountId, eventName), pastIdOf(accountId, eventName, replayId)];
    const [latestItem, pastItem] = await readAlive(ids);
    if (!latestItem) return undefined;
    const latest = replayFromItem(latestItem);
    if (latest.id === replayId) return { replay: latest, latest };
    return pastItem && { replay: replayFromItem(pastItem), latest };
  };

  /** Gives the replay as it is then; nothing where the condition did not hold. */
  const update = async (
    { accountId, eventName, id }: Replay,
    change: { set: string; remove?: string; when: string; values: Item; names?: Record<string, string> },
  ): Promise<Replay | undefined> => {
    try {
      const { Attributes } = await dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: { id: idOf(accountId, eventName) },
          UpdateExpression: `SET ${change.set}${change.remove ? ` REMOVE ${change.remove}` : ''}`,
          ConditionExpression: `#replay = :replay AND ${change.when}`,
          ExpressionAttributeNames: { '#replay': 'replayId', ...change.names },
          ExpressionAttributeValues: { ':replay': id, ...change.values },
          ReturnValues: 'ALL_NEW',
        }),
      );
      return Attributes && replayFromItem(Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
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

  /** Puts what remains of a replay into its own item. To do so again changes nothing that matters: a forgotten one stays so. */
  const keep = async (latest: Replay) => {
    const { id: replayId, ...remains } = remainsOf(latest, now());
    const id = pastIdOf(latest.accountId, latest.eventName, replayId);
    const ttl = cleanUpAt(remains.endedAt ?? now(), historyDays);
    try {
      await dynamo.send(
        new PutCommand({
          TableName: table,
          Item: { ...remains, id, replayId, ttl },
          ConditionExpression: 'attribute_not_exists(isForgotten)',
        }),
      );
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
  };

  return {
    findLatest,
    find,

    read: async itemId => {
      const item = await readItem(itemId);
      return item && replayFromItem(item);
    },

    start: async (replay, latest) => {
      const { id: replayId, accountId, eventName } = replay;
      if (latest) await keep(latest);
      const id = idOf(accountId, eventName);
      const Item = { ...replay, id, replayId, ...taskAttributes(id, replay.lookAt) };
      try {
        await dynamo.send(
          new PutCommand({
            TableName: table,
            Item,
            ...(latest
              ? {
                  ConditionExpression: `#replay = :seen AND #state = :state AND claim = :claim AND ${forgottenAs(latest)}`,
                  ExpressionAttributeNames: names,
                  ExpressionAttributeValues: {
                    ':seen': latest.id,
                    ':state': latest.state,
                    ':claim': latest.claim,
                  },
                }
              : {
                  ConditionExpression: 'attribute_not_exists(id) OR #ttl <= :now',
                  ExpressionAttributeNames: { '#ttl': 'ttl' },
                  ExpressionAttributeValues: { ':now': nowInSeconds() },
                }),
          }),
        );
        return true;
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
        // The client repeats a write whose answer got lost: what stands there may be our own.
        return (await findLatest(accountId, eventName))?.id === replayId;
      }
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

    // A cancelled replay is saved too: what had left before anyone noticed is still counted.
    save: replay =>
      update(replay, {
        set: '#total = :total, countedTo = :countedTo, sent = :sent, lastTurnAt = :lastTurnAt, sentTo = :sentTo, inHand = :inHand, paceAt = :paceAt',
        when: 'claim = :claim',
        names: { '#total': 'total' },
        values: {
          ':total': replay.total,
          ':countedTo': replay.countedTo,
          ':sent': replay.sent,
          ':lastTurnAt': replay.lastTurnAt,
          ':sentTo': replay.sentTo,
          ':inHand': replay.inHand,
          ':paceAt': replay.paceAt,
          ':claim': replay.claim,
        },
      }),

    end: async (replay, state) =>
      (await finish(replay, state, '#state = :running AND claim = :claim', { ':claim': replay.claim })) !== undefined,

    forget: async ({ replay, latest: { id: latestId, accountId, eventName } }) => {
      const isLatest = replay.id === latestId;
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { id: isLatest ? idOf(accountId, eventName) : pastIdOf(accountId, eventName, replay.id) },
            UpdateExpression: 'SET isForgotten = :yes',
            ConditionExpression: '#replay = :replay AND #state <> :running',
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: { ':yes': true, ':replay': replay.id, ':running': 'running' },
          }),
        );
        return true;
      } catch (error) {
        if (isConditionFailed(error)) return false;
        throw error;
      }
    },

    cancel: async replay => {
      const isUnderWay = '(#state = :running OR (#state = :done AND lastTurnAt > :now))';
      return (await finish(replay, 'cancelled', isUnderWay, { ':done': 'completed' })) !== undefined;
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

/** One that is still under way is so no more when another takes its place. */
function remainsOf(replay: Replay, now: number): PastReplay {
  const { id, wanted, total, countedTo, endedAt = now, isForgotten } = replay;
  const { state, sent } = progressAt(replay, now);
  const forgotten = isForgotten === undefined ? {} : { isForgotten };
  return {
    id,
    wanted,
    state: state === 'running' ? 'cancelled' : state,
    total,
    sent,
    countedTo,
    endedAt,
    ...forgotten,
  };
}

/** Holds while a replay is forgotten, or not, as it was when it was read. */
function forgottenAs({ isForgotten }: Replay): string {
  return isForgotten ? 'attribute_exists(isForgotten)' : 'attribute_not_exists(isForgotten)';
}
