import { hash } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type AttemptOutcome, type AttemptRecord, type Delivery, isTest } from '../delivery.ts';
import { type AttemptQueue, sendNext } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import { endTooOld } from '../store/end-unattempted.ts';
import type { StoreChange } from '../store/store-unless-stale.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import type { ApplyOutcome } from '../transitions.ts';
import { ordinaryFailure, type WebhookHealth } from './webhook-health.ts';

export type Suspensions = ReturnType<typeof makeSuspensions>;

/** A delivery after an attempt, and what the attempt counts as. */
export interface Standing {
  readonly after: Delivery;
  readonly outcome: AttemptOutcome;
}

/**
 * Makes what suspends a webhook after the outcome that demands it is stored: so the attempt is recorded, whatever becomes of the
 * suspension. The message of the attempt is acknowledged after both. Where it is handed over again, `resume` does what is missing.
 */
export function makeSuspensions({
  health,
  store,
  applyOutcome,
  queues,
  ...reporting
}: {
  readonly health: Pick<WebhookHealth, 'suspendIfGone' | 'suspendIfExhausted' | 'suspendAfterEnd'>;
  readonly store: Pick<DeliveryStore, 'read' | 'update'>;
  readonly applyOutcome: ApplyOutcome;
  readonly queues: { readonly retry: Pick<AttemptQueue, 'send'> };
  readonly now: Clock;
} & DeliveryTelemetry) {
  return { afterGone, failTooOld, resume };

  /**
   * Suspends the webhook of a delivery that is stored as held by a 410. Where the webhook was changed or reactivated since, the
   * delivery becomes what an ordinary failure makes of it. Throws where one of the two cannot be stored.
   */
  async function afterGone(before: Delivery, { after: held, outcome }: Standing, webhook: Webhook): Promise<Standing> {
    const standing = await health.suspendIfGone(webhook, outcome, held.id);
    if (standing.outcome === 'gone') return { after: held, outcome };
    const [stored] = await store.read([held.id]);
    const failed = stored && (await failInstead(before, stored, standing));
    return failed ? { after: failed, outcome: standing } : { after: held, outcome };
  }

  /** Ends a delivery that waited too long. A suspension that cannot be stored then is left to the next one that ends so. */
  async function failTooOld(delivery: Delivery, webhook: Webhook | undefined, storeChange: StoreChange): Promise<void> {
    const failed = await endTooOld(delivery, storeChange, reporting);
    if (failed && webhook) await health.suspendAfterEnd(webhook, failed);
  }

  /**
   * Suspends the webhook where the last outcome of a delivery demands it and that was left undone. Does nothing where the
   * message in hand is not that attempt's. Where a held delivery's webhook was changed since the attempt and is not suspended, its
   * 410 is an ordinary failure: what the receiver wants now, the next attempt shows.
   */
  async function resume(delivery: Delivery, attempt: number, webhook: Webhook | undefined): Promise<void> {
    const record = delivery.attempts.at(-1);
    if (record?.number !== attempt || delivery.attempt !== attempt + 1 || isTest(delivery)) return;
    const current = webhook?.webhookId === delivery.webhookId ? webhook : undefined;
    if (current && !uncharged.has(record.result)) await health.suspendIfExhausted(current, delivery);
    // Of an earlier registration nothing changes any more.
    if (!current || current.status === 'suspended' || delivery.goneFrom === undefined) return;
    const outcome = isAsAttempted(current, delivery, record)
      ? await health.suspendIfGone(current, { outcome: 'gone', record }, delivery.id)
      : ordinaryFailure(record);
    if (outcome.outcome !== 'failed') return;
    const before = beforeAttempt(delivery);
    const failed = await failInstead(before, delivery, outcome);
    if (!failed) return;
    reporting.log.warn('delivery.not_gone', { ...describeDelivery(before), state: failed.state });
    if (failed.state === 'failed') reporting.count('Exhausted');
    await sendNext(queues.retry, failed, reporting);
    await health.suspendIfExhausted(current, failed);
  }

  /** Returns the delivery as it is after that; `undefined` where somebody has sent it again. */
  async function failInstead(before: Delivery, held: Delivery, outcome: AttemptOutcome): Promise<Delivery | undefined> {
    const after = applyOutcome(before, outcome);
    const isHeld = held.state === 'held' && held.attempt === after.attempt;
    return isHeld && (await store.update(held, after)) ? after : undefined;
  }
}

/** Returns a delivery that a 410 of this webhook's receiver holds. */
export function heldByGone(held: Delivery, { url }: Webhook): Delivery {
  return { ...held, goneFrom: digestOf(url) };
}

/** The results of attempts that exhaust nothing. */
const uncharged: ReadonlySet<AttemptRecord['result']> = new Set(['internal', 'slow']);

/** Returns whether nothing was changed in a webhook since an attempt: clocks alone would not tell that its URL is the same. */
function isAsAttempted({ url, updatedAt }: Webhook, { goneFrom }: Delivery, { startedAt }: AttemptRecord): boolean {
  return digestOf(url) === goneFrom && updatedAt <= Date.parse(startedAt);
}

function digestOf(url: string): string {
  return hash('sha256', url, 'base64url').slice(0, 11);
}

/** Returns a delivery as it was before its last attempt, as far as is known: that a resend brought it forward is not. */
function beforeAttempt({ settledAt: _, goneFrom: __, ...held }: Delivery): Delivery {
  return { ...held, state: 'pending', attempt: held.attempt - 1, attempts: held.attempts.slice(0, -1) };
}
