import type { Clock } from '../../platform/clock.ts';
import type { Delivery, WaitingDelivery } from '../delivery.ts';
import type { ReadHistory } from '../delivery-history.ts';
import type { DeliveryStore } from '../delivery-store.ts';
import type { FindWebhook } from '../lookup.ts';
import { type RetryQueue, sendAllOrLeave } from '../queues.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { restarted } from '../transitions.ts';
import { isWantedBy, pace, type Replay, turnOf, wasSentBy } from './replay.ts';
import type { ReplayStore } from './replay-store.ts';

/** Deliveries counted, or sent, between two saves: what a crash makes the next claimant look at again. At most 100. */
export const replayPage = 100;

/**
 * Works on a replay that was claimed, until it ends, what is due within `ahead` milliseconds is sent, or `hasTime` says
 * no. To be cut off anywhere costs nothing but time: the next claimant goes on.
 */
export type RunReplay = (replay: Replay, ahead: number, hasTime: () => boolean) => Promise<void>;

/** What running a replay needs. */
export interface ReplayRunDependencies extends DeliveryTelemetry {
  readonly replays: Pick<ReplayStore, 'save' | 'end'>;
  readonly readHistory: ReadHistory;
  readonly store: Pick<DeliveryStore, 'read' | 'update'>;
  readonly findWebhook: FindWebhook;
  readonly retryQueue: Pick<RetryQueue, 'sendAll'>;
  /** See `replayPage`. */
  readonly page: number;
  readonly now: Clock;
}

/** Makes the runner of replays. */
export function makeRunReplay(dependencies: ReplayRunDependencies): RunReplay {
  const { replays, readHistory, store, findWebhook, retryQueue, page, now, log, count } = dependencies;

  const describe = ({ id, accountId, eventName }: Replay) => ({ replayId: id, account: accountId, event: eventName });

  const end = async (replay: Replay, state: 'completed' | 'cancelled') => {
    if (!(await replays.end(replay, state))) return;
    log.info('replay.ended', { ...describe(replay), state, total: replay.total, sent: replay.sent });
  };

  const readOn = async ({ accountId, eventName, wanted, from }: Replay, place: string | null): Promise<Batch> => {
    const asked = { accountId, eventName, state: wanted, from, limit: page, after: place ?? undefined };
    const { deliveries, next } = await readHistory(asked);
    return { deliveries, place: next ?? null };
  };

  const countOn = async (replay: Replay): Promise<Replay | undefined> => {
    const { deliveries, place } = await readOn(replay, replay.countedTo);
    const found = deliveries.filter(delivery => isWantedBy(replay, delivery)).length;
    return replays.save({ ...replay, total: replay.total + found, countedTo: place });
  };

  /** Begins a delivery's new schedule. Nothing: it is no longer as it was read. */
  const restart = async (replay: Replay, delivery: Delivery, turn: number): Promise<WaitingDelivery | undefined> => {
    const moment = now();
    const after = { ...restarted(delivery, moment, turn - moment), replayId: replay.id };
    return (await store.update(delivery, after)) ? after : undefined;
  };

  /** Sends deliveries in the turns from `begin` on. Gives those that it could; nothing: it came too late. */
  const sendFrom = async (
    begin: number,
    replay: Replay,
    deliveries: readonly Delivery[],
  ): Promise<WaitingDelivery[] | undefined> => {
    const sent: WaitingDelivery[] = [];
    for (let start = 0; start < deliveries.length; start += sendBatch) {
      const turn = begin + start * pace;
      if (now() - turn >= tooLate) return undefined;
      const batch = deliveries.slice(start, start + sendBatch);
      const tried = await Promise.all(batch.map((delivery, at) => restart(replay, delivery, turn + at * pace)));
      const waiting = tried.filter(delivery => delivery !== undefined);
      if (waiting.length === 0) continue;
      count('Replayed', waiting.length);
      await sendAllOrLeave(retryQueue, waiting, { log, count });
      sent.push(...waiting);
    }
    return sent;
  };

  /** Deliveries that are in hand and not saved as sent come first: some may be sent already, or belong to another replay. */
  const nextBatch = async (replay: Replay): Promise<Batch> => {
    if (replay.inHand.length === 0) return readOn(replay, replay.sentTo);
    return { deliveries: await store.read(replay.inHand), place: replay.sentTo };
  };

  const sendOn = async (replay: Replay): Promise<Replay | undefined> => {
    const { deliveries, place } = await nextBatch(replay);
    const sentTo = place ?? new Date(replay.from).toISOString();
    const own = deliveries.filter(delivery => isWantedBy(replay, delivery));
    const inHand = replay.inHand.length > 0 ? replay.inHand : own.map(({ id }) => id);
    const begin = Math.max(replay.paceAt, now());
    const next = { ...replay, inHand, sentTo, paceAt: begin + own.length * pace };
    const reserved = own.length > 0 ? await replays.save(next) : replay;
    if (reserved?.state !== 'running') return reserved;
    const sent = await sendFrom(begin, reserved, own);
    if (!sent) return reserved; // for the same deliveries again, with new turns

    const sentIds = new Set(sent.map(({ id }) => id));
    const missed = own.map(({ id }) => id).filter(id => !sentIds.has(id));
    // What was sent without being saved, earlier or by a slower claimant meanwhile, still counts, and so do its turns.
    const others = [...deliveries, ...(await store.read(missed))].filter(delivery => wasSentBy(replay, delivery));
    const turns = [...sent, ...others].map(turnOf).filter(turn => turn !== undefined);
    const saved = await replays.save({
      ...reserved,
      sent: reserved.sent + sent.length + others.length,
      lastTurnAt: Math.max(reserved.lastTurnAt, ...turns),
      sentTo,
      inHand: [],
    });
    if (saved?.state !== 'running' || place !== null) return saved;
    await end(saved, 'completed');
    return undefined;
  };

  const mayGoOn = async ({ accountId, eventName, webhookId }: Replay): Promise<boolean> => {
    const webhook = await findWebhook(accountId, eventName);
    return webhook?.webhookId === webhookId && webhook.status === 'active';
  };

  return async function runReplay(claimed, ahead, hasTime) {
    let replay: Replay | undefined = claimed;
    while (replay?.state === 'running' && hasTime()) {
      if (!(await mayGoOn(replay))) return end(replay, 'cancelled');
      if (replay.countedTo !== null) replay = await countOn(replay);
      else if (replay.paceAt < now() + ahead) replay = await sendOn(replay);
      else return;
    }
  };
}

/** Deliveries to be sent together. */
interface Batch {
  readonly deliveries: readonly Delivery[];
  /** Where the next ones are; `null` where there are none. */
  readonly place: string | null;
}

/** What a queue takes in one call, and a second's worth. No more than these are stored and unsent when a process dies. */
const sendBatch = 10;

/** A process that is late for a turn by this much has stood still: it lets the rest of its turns pass. Milliseconds. */
const tooLate = 1_000;
