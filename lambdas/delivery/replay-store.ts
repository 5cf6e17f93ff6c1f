import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { type Item, isConditionFailed, readTogether } from '../platform/dynamodb.ts';
import type { EventName } from '../webhooks/webhook.ts';
import { cleanUpAt, dueAttributes } from './delivery-item.ts';
import { type PastReplay, progressAt, type Replay } from './replay.ts';

/*
 * Table `Deliveries`, item `reenvios#<accountId>#<evento>`: a webhook's latest replay, and in `past` what remains of those
 * before it. One item, so that one conditional write keeps replays of a webhook from running side by side.
 *
 * While the replay is under way the item stands in index `due`, where the sweeper finds it every minute. Whoever works on
 * it claims it first: `claim` grows, and what an earlier claimant saves is refused. The place that sending has come to
 * and the count of what was sent are saved together after each page; a page that was sent but not saved is recognised by
 * the `replayId` of its deliveries.
 *
 * Ten deliveries a second: each has a turn, and `paceAt` is when the next turn is that nobody has. It is moved on, by a
 * conditional write like any other, before the turns are used. So no two deliveries ever have the same one, however many
 * work on the replay without knowing of each other; what a crash leaves unused is time lost, never a delivery.
 */

/** The id of the item; its prefix tells the sweeper what it is. */
export const replaysPrefix = 'reenvios';

const idOf = (accountId: string, evento: EventName): string => `${replaysPrefix}#${accountId}#${evento}`;

/** Replays of a webhook that are still shown after later ones have begun. */
const keptPast = 20;

/** A webhook's replays, the latest whole. */
export interface Replays {
  readonly latest: Replay;
  readonly past: readonly PastReplay[];
}

/** The replays of all webhooks. Reads are consistent. */
export interface ReplayStore {
  find(accountId: string, evento: EventName): Promise<Replays | undefined>;
  /** Reads by the id of the item, as index `due` gives it. */
  read(itemId: string): Promise<Replay | undefined>;
  /** Begins a replay in place of the latest that was found. False: that one has gone on since, or there is another. */
  start(replay: Replay, found: Replays | undefined): Promise<boolean>;
  /** Takes a replay in hand until `lookAt`. Nothing: it is in other hands, or ended. */
  claim(replay: Replay, lookAt: number): Promise<Replay | undefined>;
  /** Saves how far a claimed replay has come, and gives it as it is then. Nothing: it is in other hands. */
  save(replay: Replay): Promise<Replay | undefined>;
  /** Ends a claimed replay. False: it is in other hands, or ended. */
  end(replay: Replay, state: 'concluido' | 'cancelado'): Promise<boolean>;
  /** Cancels a replay, whoever has it in hand: what has not had its turn is not sent. False: it has ended. */
  cancel(replay: Replay): Promise<boolean>;
}

/** What the store stands on. */
export interface ReplayStoreDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Deliveries`. */
  readonly table: string;
  readonly now: Clock;
  /** How long a replay is shown after it ended. */
  readonly historyDays: number;
}

const names = { '#replay': 'replayId', '#state': 'state' };

const replayFromItem = ({ id: _, dueShard, dueAt, ttl, past, replayId, ...replay }: Item): Replay =>
  ({ ...replay, id: replayId }) as unknown as Replay;

/** One that is still under way is so no more when another takes its place. */
const remainsOf = (replay: Replay, now: number): PastReplay => {
  const { id, wanted, total, countedTo, endedAt } = replay;
  const { state, sent } = progressAt(replay, now);
  const end = endedAt === undefined ? {} : { endedAt };
  return { id, wanted, state: state === 'em_andamento' ? 'cancelado' : state, total, sent, countedTo, ...end };
};

/** Makes the store. */
export const makeReplayStore = ({ documents, table, now, historyDays }: ReplayStoreDependencies): ReplayStore => {
  const nowInSeconds = () => Math.floor(now() / 1_000);

  const readItem = async (id: string): Promise<Item | undefined> => {
    const [item] = await readTogether(documents, [{ table, key: { id } }]);
    return item && !(typeof item.ttl === 'number' && item.ttl <= nowInSeconds()) ? item : undefined;
  };

  const find: ReplayStore['find'] = async (accountId, evento) => {
    const item = await readItem(idOf(accountId, evento));
    return item && { latest: replayFromItem(item), past: item.past as PastReplay[] };
  };

  /** Gives the replay as it is then; nothing where the condition did not hold. */
  const update = async (
    { accountId, evento, id }: Replay,
    change: { set: string; remove?: string; when: string; values: Item; names?: Record<string, string> },
  ): Promise<Replay | undefined> => {
    try {
      const { Attributes } = await documents.send(
        new UpdateCommand({
          TableName: table,
          Key: { id: idOf(accountId, evento) },
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

  const finish = (replay: Replay, state: 'concluido' | 'cancelado', when: string, values: Item) =>
    update(replay, {
      set: '#state = :ended, endedAt = :now, #ttl = :ttl',
      remove: 'dueShard, dueAt',
      when,
      names: { '#state': 'state', '#ttl': 'ttl' },
      values: {
        ':ended': state,
        ':running': 'em_andamento',
        ':now': now(),
        ':ttl': cleanUpAt(now(), historyDays),
        ...values,
      },
    });

  return {
    find,

    read: async itemId => {
      const item = await readItem(itemId);
      return item && replayFromItem(item);
    },

    start: async (replay, found) => {
      const { id: replayId, ...rest } = replay;
      const id = idOf(replay.accountId, replay.evento);
      const past = found ? [remainsOf(found.latest, now()), ...found.past].slice(0, keptPast) : [];
      const Item = { ...rest, id, replayId, past, ...dueAttributes(id, replay.lookAt) };
      try {
        await documents.send(
          new PutCommand({
            TableName: table,
            Item,
            ...(found
              ? {
                  ConditionExpression: '#replay = :seen AND #state = :state AND claim = :claim',
                  ExpressionAttributeNames: names,
                  ExpressionAttributeValues: {
                    ':seen': found.latest.id,
                    ':state': found.latest.state,
                    ':claim': found.latest.claim,
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
        return (await find(replay.accountId, replay.evento))?.latest.id === replayId;
      }
    },

    claim: (replay, lookAt) =>
      update(replay, {
        set: 'claim = :next, lookAt = :lookAt, dueAt = :dueAt',
        when: '#state = :running AND claim = :claim',
        names: { '#state': 'state' },
        values: {
          ':running': 'em_andamento',
          ':claim': replay.claim,
          ':next': replay.claim + 1,
          ':lookAt': lookAt,
          ':dueAt': dueAttributes(idOf(replay.accountId, replay.evento), lookAt).dueAt,
        },
      }),

    // A cancelled replay is saved too: what had left before anyone noticed is still counted.
    save: replay =>
      update(replay, {
        set: '#total = :total, countedTo = :countedTo, sent = :sent, lastTurnAt = :lastTurnAt, sentTo = :sentTo, paceAt = :paceAt',
        when: 'claim = :claim',
        names: { '#total': 'total' },
        values: {
          ':total': replay.total,
          ':countedTo': replay.countedTo,
          ':sent': replay.sent,
          ':lastTurnAt': replay.lastTurnAt,
          ':sentTo': replay.sentTo,
          ':paceAt': replay.paceAt,
          ':claim': replay.claim,
        },
      }),

    end: async (replay, state) =>
      (await finish(replay, state, '#state = :running AND claim = :claim', { ':claim': replay.claim })) !== undefined,

    cancel: async replay => {
      const isUnderWay = '(#state = :running OR (#state = :done AND lastTurnAt > :now))';
      return (await finish(replay, 'cancelado', isUnderWay, { ':done': 'concluido' })) !== undefined;
    },
  };
};
