import type { Clock } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Delivery, isTest, type WaitingDelivery } from '../delivery.ts';
import { type AttemptQueue, sendOrLeave } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { expedited, restarted } from '../transitions.ts';

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
 * attempt is made now, without being charged. While an attempt may be in flight nothing changes: its outcome counts. Returns
 * whether anything changed.
 */
export type Resend = (delivery: Delivery) => Promise<boolean>;

/** Returns the function that resends. A resend is stored first, then sent: the sweeper finds it when its message is lost. */
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
        await sendOrLeave(retryQueue, after, { log });
        return true;
      }
      const [found] = await store.read([delivery.id]);
      if (!found || !isSameTurn(found, delivery)) return false;
      latest = found;
    }
    throw new Error('The delivery changes too often just now.');
  };
}

/** Returns whether no other resend and no outcome was quicker, which would count: a claim of the sweeper is neither. */
function isSameTurn(found: Delivery, read: Delivery): boolean {
  const { state, attempt, expedited } = read;
  return found.state === state && found.attempt === attempt && found.expedited?.at === expedited?.at;
}

/** The most times that a resend is tried while others change what the delivery waits for. */
const maxTries = 5;

function resent(delivery: Delivery, now: number): WaitingDelivery | undefined {
  if (delivery.state !== 'pending') return restarted(delivery, now);
  return delivery.wait ? expedited({ ...delivery, wait: delivery.wait }, now) : undefined;
}
