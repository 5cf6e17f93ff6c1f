import type { Clock } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Delivery, isTest, type WaitingDelivery } from '../delivery.ts';
import { type AttemptQueue, trySend } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { expedited, restarted } from '../transitions.ts';

/** A reason that prevents the resend of a delivery. */
export type ResendError = 'webhook_suspended' | 'webhook_replaced' | 'test_delivery';

/** Returns why a delivery cannot be resent, or `undefined` if it can. */
export function resendError(delivery: Delivery, webhook: Webhook): ResendError | undefined {
  if (webhook.status === 'suspended') return 'webhook_suspended';
  if (webhook.webhookId !== delivery.webhookId) return 'webhook_replaced';
  return isTest(delivery) ? 'test_delivery' : undefined;
}

/**
 * Resends a delivery for which `resendError` returned `undefined`. A delivery in a final state starts a new schedule. A waiting delivery is
 * attempted now, and the attempt is not charged. If an attempt may be in flight, the delivery does not change. Returns whether it changed.
 */
export type Resend = (delivery: Delivery) => Promise<boolean>;

/** Returns the resend function, which stores the resend before it sends the message, so the sweeper can replace a lost message. */
export function makeResend(
  dependencies: Pick<DeliveryTelemetry, 'log'> & {
    readonly store: Pick<DeliveryStore, 'update' | 'read'>;
    readonly retryQueue: Pick<AttemptQueue, 'send'>;
    readonly now: Clock;
  },
): Resend {
  const { store, retryQueue, now, log } = dependencies;
  return async function resend(delivery) {
    let latest = delivery;
    for (let tries = 0; tries < maxTries; tries++) {
      const after = resent(latest, now());
      if (!after) return false;
      if (await store.update(latest, after)) {
        await trySend(retryQueue, after, { log });
        return true;
      }
      const [current] = await store.read([delivery.id]);
      if (!current || !isUnchanged(current, delivery)) return false;
      latest = current;
    }
    throw new Error('Could not resend the delivery, because other processes kept changing it. Try again.');
  };
}

/** Returns whether the delivery has had no resend and no outcome since it was read. Ignores claims by the sweeper. */
function isUnchanged(current: Delivery, before: Delivery): boolean {
  const { state, attempt, expedited } = before;
  return current.state === state && current.attempt === attempt && current.expedited?.at === expedited?.at;
}

/** The maximum number of tries while other processes change the delivery. */
const maxTries = 5;

function resent(delivery: Delivery, now: number): WaitingDelivery | undefined {
  if (delivery.state !== 'pending') return restarted(delivery, now);
  return delivery.wait ? expedited({ ...delivery, wait: delivery.wait }, now) : undefined;
}
