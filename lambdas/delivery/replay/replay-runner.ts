import type { Clock } from '../../platform/clock.ts';
import { chunksOf } from '../../platform/in-batches.ts';
import type { Delivery, WaitingDelivery } from '../delivery.ts';
import { type AttemptQueue, maxMessagesOfCall, trySendAll } from '../queues.ts';
import type { ReadHistory } from '../store/delivery-history.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { FindWebhook } from '../store/find-webhook.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { restarted } from '../transitions.ts';
import { isSelectedBy, type Replay } from './replay.ts';
import type { ReplayStore } from './replay-store.ts';

/** The interval between the due times of a replay's deliveries, in milliseconds. A replay resends ten deliveries per second. */
export const replayInterval = 100;

/** Continues a replay while `hasTime` returns true. */
export type ContinueReplay = (id: string, hasTime: () => boolean) => Promise<void>;

/**
 * Returns the function that each sweep calls to continue a running replay. The function sends the deliveries that are due within about one
 * minute. It stops after 10 s, so a large range does not delay other replays, and the next sweep continues.
 */
export function makeContinueReplay({
  replays,
  run,
  now,
}: {
  readonly replays: Pick<ReplayStore, 'read'>;
  readonly run: RunReplay;
  readonly now: Clock;
}): ContinueReplay {
  return async function continueReplay(id, hasTime) {
    const until = now() + replayShare;
    const replay = await replays.read(id);
    if (replay) await run(replay, replayPerSweep, () => hasTime() && now() < until);
  };
}

/**
 * Runs a replay until it ends, `maxDeliveries` are sent or `hasTime` returns false. A run may be interrupted at any point, and several
 * processes may run the same replay. Returns the replay in its new state, or `undefined` if another replay has replaced it.
 */
export type RunReplay = (replay: Replay, maxDeliveries: number, hasTime: () => boolean) => Promise<Replay | undefined>;

export function makeRunReplay(
  dependencies: Pick<DeliveryTelemetry, 'log'> & {
    readonly replays: Pick<ReplayStore, 'save' | 'end'>;
    readonly readHistory: ReadHistory;
    readonly store: Pick<DeliveryStore, 'update'>;
    readonly findWebhook: FindWebhook;
    readonly retryQueue: Pick<AttemptQueue, 'sendAll'>;
    readonly now: Clock;
  },
): RunReplay {
  const { replays, readHistory, store, findWebhook, retryQueue, now, log } = dependencies;

  return async function runReplay(started, maxDeliveries, hasTime) {
    let replay: Replay | undefined = started;
    let remaining = maxDeliveries;
    let dueAt = 0;
    while (replay?.state === 'running' && remaining > 0 && mayContinue(replay) && hasTime()) {
      if (!(await isWebhookActive(replay))) return end(replay, 'cancelled');
      const { selected, next } = await readPage(replay, Math.min(remaining, pageSize));
      const page: Sent = await send(selected, dueAt);
      dueAt = page.dueAt;
      remaining -= page.sent;
      const after: Replay = { ...replay, sent: replay.sent + page.sent, pass: next ? replay.pass : 2, cursor: next };
      if (!next && replay.pass === 2) return end(after, 'completed');
      replay = await replays.save(after);
    }
    return replay;
  };

  /** Delays the second pass until the index includes all deliveries that reached their state before the replay started. */
  function mayContinue({ pass, startedAt }: Replay): boolean {
    return pass === 1 || now() >= startedAt + maxIndexLag;
  }

  async function isWebhookActive({ accountId, eventName, webhookId }: Replay): Promise<boolean> {
    const webhook = await findWebhook(accountId, eventName);
    return webhook?.webhookId === webhookId && webhook.status === 'active';
  }

  async function readPage(replay: Replay, limit: number) {
    const { accountId, eventName, sourceState: state, from, to: before, cursor: after } = replay;
    const { deliveries, next } = await readHistory({ accountId, eventName, state, from, before, limit, after });
    return { selected: deliveries.filter(delivery => isSelectedBy(replay, delivery)), next };
  }

  /** Resends deliveries at the replay's rate. Due times are never in the past, so a process does not send a burst after a freeze. */
  async function send(deliveries: readonly Delivery[], firstDueAt: number): Promise<Sent> {
    let [sent, dueAt] = [0, firstDueAt];
    for (const batch of chunksOf(deliveries, maxMessagesOfCall)) {
      const from = Math.max(dueAt, now());
      const restarts = await Promise.all(
        batch.map((delivery, index) => restart(delivery, from + index * replayInterval)),
      );
      dueAt = from + batch.length * replayInterval;
      const waiting = restarts.filter(delivery => delivery !== undefined);
      if (waiting.length === 0) continue;
      sent += waiting.length;
      await trySendAll(retryQueue, waiting, { log });
    }
    return { sent, dueAt };
  }

  /** Restarts a delivery. Returns `undefined` if it has changed since it was read. */
  async function restart(delivery: Delivery, dueAt: number): Promise<WaitingDelivery | undefined> {
    const moment = now();
    const after = restarted(delivery, moment, dueAt - moment);
    return (await store.update(delivery, after)) ? after : undefined;
  }

  async function end(replay: Replay, state: 'completed' | 'cancelled'): Promise<Replay> {
    if (await replays.end(replay, state)) {
      const { id: replayId, accountId: account, eventName: event, sent } = replay;
      log.info('replay.ended', { replayId, account, event, state, sent });
    }
    return { ...replay, state };
  }
}

interface Sent {
  readonly sent: number;
  /** The due time of the next delivery. */
  readonly dueAt: number;
}

/** The maximum number of deliveries between saves. A save detects a cancellation. The history allows at most 100 per page. */
const pageSize = 100;

/** The maximum number of deliveries that one sweep sends for a replay. This many are due in one minute. */
const replayPerSweep = 60_000 / replayInterval;

/** The maximum lag of an index in milliseconds, with a safety margin. */
const maxIndexLag = 10_000;

/** A sweep starts no further page of a replay after this many milliseconds. Sending the deliveries for one minute takes a few seconds. */
const replayShare = 10_000;
