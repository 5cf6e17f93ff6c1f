import type { Clock } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Delivery, isTest, type WaitingDelivery } from '../delivery.ts';
import type { DeliveryStore } from '../delivery-store.ts';
import { type RetryQueue, sendOrLeave } from '../queues.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { broughtForward, restarted } from '../transitions.ts';

/** Why a delivery is not sent again. */
export type ResendRefusal = 'webhook_suspended' | 'webhook_replaced' | 'test_delivery';

/** Why a delivery is not sent again, if it is not: only an active webhook gets its own events, and tests are no events. */
export function resendRefusal(delivery: Delivery, webhook: Webhook): ResendRefusal | undefined {
  if (webhook.status === 'suspended') return 'webhook_suspended';
  if (webhook.webhookId !== delivery.webhookId) return 'webhook_replaced';
  return isTest(delivery) ? 'test_delivery' : undefined;
}

/**
 * Sends a delivery again that `resendRefusal` has nothing against. One that has ended begins a new schedule; the next
 * attempt of one that waits comes now, uncharged. One whose attempt is due or under way is left alone: that counts.
 */
export type Resend = (delivery: Delivery) => Promise<void>;

/** What a resend needs. */
export interface ResendDependencies extends DeliveryTelemetry {
  readonly store: Pick<DeliveryStore, 'update'>;
  readonly retryQueue: Pick<RetryQueue, 'send'>;
  readonly now: Clock;
}

/** Makes the resend: stored first, then sent; what is not sent, the sweeper finds. */
export function makeResend({ store, retryQueue, now, log, count }: ResendDependencies): Resend {
  return async function resend(delivery) {
    const after = resent(delivery, now());
    if (!after) return;
    // Where it is no longer as it was read, another resend was quicker, or an attempt's outcome was stored: that counts.
    if (!(await store.update(delivery, after))) return;
    await sendOrLeave(retryQueue, after, { log, count });
  };
}

function resent(delivery: Delivery, now: number): WaitingDelivery | undefined {
  if (delivery.state !== 'pending') return restarted(delivery, now);
  return delivery.wait ? broughtForward({ ...delivery, wait: delivery.wait }, now) : undefined;
}
