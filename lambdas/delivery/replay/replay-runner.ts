import { type Clock, isoTime } from '../../platform/clock.ts';
import type { Delivery, WaitingDelivery } from '../delivery.ts';
import { latenessOfTurn } from '../lateness.ts';
import { replayShare, replaySlotInterval, taskClaimLength } from '../limits.ts';
import { type AttemptQueue, sendAllOrLeave } from '../queues.ts';
import type { ReadHistory } from '../store/delivery-history.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DueTask } from '../store/due-index.ts';
import type { FindWebhook } from '../store/find-webhook.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { restarted } from '../transitions.ts';
import { isSelectedBy, maxSlotLateness, type Replay, slotOf, wasSentBy } from './replay.ts';
import type { ReplayStore } from './replay-store.ts';

/** Deliveries counted or sent between two saves, which a crash makes the next claimant look at again. At most 100. */
export const replayPage = 100;

/**
 * Makes the sweeper's task for replays: each minute it claims a running replay, counts its deliveries, and then sends a minute's worth
 * of them. It stops after ten seconds, and the next sweep goes on: a range of any length must not keep other tasks out of a sweep.
 */
export function makeReplayTask({
  replays,
  run,
  now,
}: {
  readonly replays: Pick<ReplayStore, 'read' | 'claim'>;
  readonly run: RunReplay;
  readonly now: Clock;
}): DueTask {
  return async function runReplayTask({ id }, hasTime) {
    const replay = await replays.read(id);
    if (replay?.state !== 'running' || replay.lookAt > now()) return; // the index is behind
    const lateness = latenessOfTurn(replay, replay.startedAt, now()); // as it is before this sweep
    const claimed = await replays.claim(replay, now() + taskClaimLength);
    const until = now() + replayShare;
    if (claimed) await run(claimed, sweepInterval, () => hasTime() && now() < until);
    return lateness;
  };
}

/**
 * Works on a claimed replay until it ends, all slots of the next `ahead` milliseconds are used, or `hasTime` returns false. It
 * can be interrupted anywhere: the next claimant goes on.
 */
export type RunReplay = (replay: Replay, ahead: number, hasTime: (replay: Replay) => boolean) => Promise<void>;

/**
 * Returns the function that runs replays.
 *
 * @param dependencies - `page`: see `replayPage`.
 */
export function makeRunReplay(
  dependencies: DeliveryTelemetry & {
    readonly replays: Pick<ReplayStore, 'save' | 'end'>;
    readonly readHistory: ReadHistory;
    readonly store: Pick<DeliveryStore, 'read' | 'update'>;
    readonly findWebhook: FindWebhook;
    readonly retryQueue: Pick<AttemptQueue, 'sendAll'>;
    readonly page: number;
    readonly now: Clock;
  },
): RunReplay {
  const { replays, readHistory, store, findWebhook, retryQueue, page, now, log, count } = dependencies;

  return async function runReplay(claimed, ahead, hasTime) {
    let replay: Replay | undefined = claimed;
    while (replay?.state === 'running' && hasTime(replay)) {
      if (!(await isWebhookActive(replay))) return end(replay, 'cancelled');
      if (replay.countCursor !== null) replay = await countPage(replay);
      else if (replay.nextSlotAt < now() + ahead) replay = await sendPage(replay);
      else return;
    }
  };

  async function isWebhookActive({ accountId, eventName, webhookId }: Replay): Promise<boolean> {
    const webhook = await findWebhook(accountId, eventName);
    return webhook?.webhookId === webhookId && webhook.status === 'active';
  }

  async function end(replay: Replay, state: 'completed' | 'cancelled'): Promise<void> {
    if (!(await replays.end(replay, state))) return;
    const { id: replayId, accountId: account, eventName: event, total, sent } = replay;
    log.info('replay.ended', { replayId, account, event, state, total, sent });
  }

  async function countPage(replay: Replay): Promise<Replay | undefined> {
    const { deliveries, cursor } = await readPage(replay, replay.countCursor);
    const selected = deliveries.filter(delivery => isSelectedBy(replay, delivery)).length;
    return replays.save({ ...replay, total: replay.total + selected, countCursor: cursor, servedAt: now() });
  }

  async function readPage({ accountId, eventName, wanted, from }: Replay, cursor: string | null): Promise<Page> {
    const selection = { accountId, eventName, state: wanted, from, limit: page, after: cursor ?? undefined };
    const { deliveries, next } = await readHistory(selection);
    return { deliveries, cursor: next ?? null };
  }

  /** Reserves the slots of a page, sends its deliveries in them, and saves that. */
  async function sendPage(replay: Replay): Promise<Replay | undefined> {
    const { deliveries, cursor } = await nextPage(replay);
    const sendCursor = cursor ?? isoTime(replay.from);
    const selected = deliveries.filter(delivery => isSelectedBy(replay, delivery));
    const inFlight = replay.inFlight.length > 0 ? replay.inFlight : selected.map(({ id }) => id);
    const firstSlot = Math.max(replay.nextSlotAt, now());
    const next = { ...replay, inFlight, sendCursor, nextSlotAt: firstSlot + selected.length * replaySlotInterval };
    const reserved = selected.length > 0 ? await replays.save(next) : replay;
    if (reserved?.state !== 'running') return reserved;
    const sent = await sendInSlots(firstSlot, reserved, selected);
    const sentIds = new Set(sent.map(({ id }) => id));
    const missed = await store.read(selected.map(({ id }) => id).filter(id => !sentIds.has(id)));
    const left = missed.filter(delivery => isSelectedBy(replay, delivery)).map(({ id }) => id);
    // Deliveries that an earlier or a slower claimant sent without saving them count too, and so do their slots.
    const others = [...deliveries, ...missed].filter(delivery => wasSentBy(replay, delivery));
    const slots = [...sent, ...others].map(slotOf).filter(slot => slot !== undefined);
    const sentByNow = reserved.sent + sent.length + others.length;
    const saved = await replays.save({
      ...reserved,
      total: Math.max(reserved.total, sentByNow), // counted from an index that lags
      sent: sentByNow,
      lastSlotAt: Math.max(reserved.lastSlotAt, ...slots),
      sendCursor,
      inFlight: left, // they follow in new slots
      servedAt: now(),
    });
    if (saved?.state !== 'running' || cursor !== null || left.length > 0) return saved;
    await end(saved, 'completed');
    return undefined;
  }

  /** Deliveries in flight come first: some may be sent already, or belong to another replay by now. */
  async function nextPage(replay: Replay): Promise<Page> {
    if (replay.inFlight.length === 0) return readPage(replay, replay.sendCursor);
    return { deliveries: await store.read(replay.inFlight), cursor: replay.sendCursor };
  }

  /** Returns the deliveries that it sent. It stops where it is too late for a slot, and a batch at most after a DELETE of the webhook. */
  async function sendInSlots(
    firstSlot: number,
    replay: Replay,
    deliveries: readonly Delivery[],
  ): Promise<WaitingDelivery[]> {
    const sent: WaitingDelivery[] = [];
    for (let start = 0; start < deliveries.length; start += sendBatch) {
      const slot = firstSlot + start * replaySlotInterval;
      if (!(await isWebhookActive(replay)) || now() - slot >= maxSlotLateness) break;
      const batch = deliveries.slice(start, start + sendBatch);
      const tried = await Promise.all(
        batch.map((delivery, index) => restart(replay, delivery, slot + index * replaySlotInterval)),
      );
      const waiting = tried.filter(delivery => delivery !== undefined);
      if (waiting.length === 0) continue;
      count('Replayed', waiting.length);
      await sendAllOrLeave(retryQueue, waiting, { log, count });
      sent.push(...waiting);
    }
    return sent;
  }

  /** Begins a delivery's new schedule. Returns `undefined` when the delivery has changed since it was read. */
  async function restart(replay: Replay, delivery: Delivery, slot: number): Promise<WaitingDelivery | undefined> {
    const moment = now();
    const after = { ...restarted(delivery, moment, slot - moment), replayId: replay.id, replaySlotAt: slot };
    return (await store.update(delivery, after)) ? after : undefined;
  }
}

/** Deliveries, and the cursor of the next ones; `null` when there are none. */
interface Page {
  readonly deliveries: readonly Delivery[];
  readonly cursor: string | null;
}

/** The most messages of one SQS call, and a second's worth of slots. No more are stored and unsent when a process dies. */
const sendBatch = 10;

/** The sweeper runs every minute, and sends what is due until its next run. Milliseconds. */
const sweepInterval = 60_000;
