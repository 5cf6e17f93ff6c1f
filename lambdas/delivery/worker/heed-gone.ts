import type { Webhook } from '../../webhooks/webhook.ts';
import type { AttemptOutcome } from '../delivery.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { WebhookHealthStore } from './webhook-health-store.ts';

/**
 * Suspends the webhook of a receiver that answered 410. Where the URL or the registration has changed since the attempt
 * began, the 410 says nothing about the webhook: the outcome is then an ordinary failure. Every other outcome stays as it is.
 */
export type HeedGone = (webhook: Webhook, outcome: AttemptOutcome) => Promise<AttemptOutcome>;

/** What heeding a 410 needs. */
export interface HeedGoneDependencies extends DeliveryTelemetry {
  readonly health: Pick<WebhookHealthStore, 'suspendGone'>;
}

/** Makes what is done about a 410. The write's own condition decides, not what was read before it. */
export function makeHeedGone({ health, log, count }: HeedGoneDependencies): HeedGone {
  return async function heedGone(webhook, outcome) {
    if (outcome.outcome !== 'gone') return outcome;
    const { record } = outcome;
    const suspended = await health.suspendGone(webhook, record.result);
    if (suspended === 'replaced') {
      return { outcome: 'failed', retryAfterMs: undefined, detail: 'HTTP 410 of an earlier URL', record };
    }
    if (suspended === 'suspended') {
      count('WebhookSuspended');
      log.warn('webhook.suspended', { account: webhook.accountId, event: webhook.eventName, reason: 'gone' });
    }
    return outcome;
  };
}
