import type { Clock } from '../../platform/clock.ts';
import { type Delivery, settled } from '../delivery.ts';
import type { DeliveryStore } from '../delivery-store.ts';
import type { Lane } from '../lane-routing.ts';
import { type RetryMessage, retryMessage, type SendToDeadLetters } from '../queues.ts';
import { turnOf, wasCancelledBefore } from '../replay/replay.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import type { ProcessRecord } from './first-attempt.ts';
import type { ProcessDelivery } from './process-delivery.ts';
import type { FindWebhookState } from './webhook-state.ts';

/** What further attempts stand on. */
export interface RedeliverDependencies extends DeliveryTelemetry {
  readonly findWebhookState: FindWebhookState;
  readonly processDelivery: ProcessDelivery;
  readonly store: Pick<DeliveryStore, 'update'>;
  readonly replays: Pick<ReplayStore, 'find'>;
  readonly sendToDeadLetters: SendToDeadLetters;
  /** The lane whose queue is consumed. */
  readonly lane: Lane;
  readonly now: Clock;
}

/** Makes a further attempt, unless that attempt's outcome is stored already. */
export function makeRetry(dependencies: RedeliverDependencies): ProcessRecord {
  const { findWebhookState, processDelivery, store, replays, sendToDeadLetters, lane, now, log, count } = dependencies;

  /** What a delivery goes back to when its replay was cancelled before its turn came. */
  const withdrawnTo = async (delivery: Delivery) => {
    const { accountId, eventName, replayId } = delivery;
    const turn = turnOf(delivery);
    if (turn === undefined || replayId === undefined) return undefined;
    const replay = (await replays.find(accountId, eventName, replayId))?.replay;
    return replay && wasCancelledBefore(replay, turn) ? replay.wanted : undefined;
  };

  return async function redeliver(record, atReceiver) {
    const { body, messageId } = record;
    const message = parseRetryMessage(body);
    if (!message) {
      await sendToDeadLetters(record, { reason: 'malformed', detail: 'names no attempt' });
      count('DeadLettered');
      log.error('retry.refused', { messageId, reason: 'malformed' });
      return;
    }
    const { id, accountId, eventName, attempt } = message;
    const { delivery, webhook, slowness } = await findWebhookState(id, accountId, eventName);
    if (delivery && isDueIn(lane, delivery, message)) {
      const withdrawn = webhook?.webhookId === delivery.webhookId ? await withdrawnTo(delivery) : undefined;
      if (withdrawn) {
        await store.update(delivery, settled(delivery, withdrawn, now()));
        log.info('delivery.replay_cancelled', { ...describeDelivery(delivery), state: withdrawn });
        return;
      }
      await processDelivery(delivery, { webhook, slowness }, after => store.update(delivery, after), atReceiver);
      return;
    }
    count('StaleDropped');
    log.info('delivery.stale', { deliveryId: id, account: accountId, event: eventName, attempt: attempt });
  };
}

function parseRetryMessage(body: string) {
  try {
    return retryMessage.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

/**
 * A message of the retry queue is stale, too, once its delivery was handed over to the slow lane, and any that was sent
 * before a resend brought its attempt forward.
 */
function isDueIn(lane: Lane, delivery: Delivery, message: RetryMessage): boolean {
  const { state, attempt, wait, broughtForward } = delivery;
  if (state !== 'pending' || attempt !== message.attempt || message.broughtForwardAt !== broughtForward?.at)
    return false;
  return lane === 'slow' || wait?.slowLane === undefined;
}
