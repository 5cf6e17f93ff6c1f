import type { Clock } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Delivery, isTest, type WaitingDelivery } from '../delivery.ts';
import { type AttemptQueue, sendOrLeave } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { broughtForward, restarted } from '../transitions.ts';

/** The reason why a delivery is not sent again. */
export type ResendRefusal = 'webhook_suspended' | 'webhook_replaced' | 'test_delivery';

/** Returns the reason why a delivery cannot be resent, if so: only an active webhook gets its own events, and a test is not an event. */
export function resendRefusal(delivery: Delivery, webhook: Webhook): ResendRefusal | undefined {
  if (webhook.status === 'suspended') return 'webhook_suspended';
  if (webhook.webhookId !== delivery.webhookId) return 'webhook_replaced';
  return isTest(delivery) ? 'test_delivery' : undefined;
}

/**
 * Resends a delivery that `resendRefusal` does not refuse. In a final state it begins a new schedule; while it waits its next
 * attempt is made now, without being charged. While an attempt is due or under way nothing changes: its outcome counts.
 */
export type Resend = (delivery: Delivery) => Promise<void>;

/** Returns the function that resends. A resend is stored first, then sent: the sweeper finds it when its message is lost. */
export function makeResend(
  dependencies: DeliveryTelemetry & {
    readonly store: Pick<DeliveryStore, 'update'>;
    readonly retryQueue: Pick<AttemptQueue, 'send'>;
    readonly now: Clock;
  },
): Resend {
  const { store, retryQueue, now, log, count } = dependencies;
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
