import type { Clock } from '../platform/clock.ts';
import { describeError } from '../platform/telemetry.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { restarted } from './lifecycle.ts';
import type { RetryQueue } from './retry-queue.ts';
import { type DeliveryTelemetry, describeDelivery } from './telemetry.ts';

/** What came of a resend: a new schedule has begun, or why not. */
type ResendOutcome = 'resent' | 'delivery_pending' | 'webhook_suspended';

/**
 * Begins a new schedule for a delivery that reached a final state. One whose registration is gone is not sent: its turn
 * cancels it.
 */
export type Resend = (delivery: Delivery, webhook: Webhook) => Promise<ResendOutcome>;

/** What a resend stands on. */
export interface ResendDependencies extends DeliveryTelemetry {
  readonly store: Pick<DeliveryStore, 'update'>;
  readonly retryQueue: Pick<RetryQueue, 'send'>;
  readonly now: Clock;
}

/** Makes the resend: stored first, then sent; what is not sent, the sweeper finds. */
export const makeResend =
  ({ store, retryQueue, now, log, count }: ResendDependencies): Resend =>
  async (delivery, webhook) => {
    if (delivery.state === 'pendente') return 'delivery_pending';
    if (webhook.status === 'suspenso') return 'webhook_suspended';
    const after = restarted(delivery, now());
    if (!(await store.update(delivery, after))) return 'delivery_pending'; // another resend was quicker
    try {
      await retryQueue.send(after);
    } catch (error) {
      count('RetryNotSent');
      log.error('resend not sent; the sweeper will', { ...describeDelivery(after), ...describeError(error) });
    }
    return 'resent';
  };
