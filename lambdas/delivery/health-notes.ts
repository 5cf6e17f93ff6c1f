import type { Clock } from '../platform/clock.ts';
import { describeError } from '../platform/telemetry.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import type { AttemptOutcome } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import type { NoteSuspension } from './suspension-notice.ts';
import { type DeliveryTelemetry, describeDelivery } from './telemetry.ts';
import type { WebhookHealth } from './webhook-health.ts';

/** A webhook that has failed for this long, in milliseconds, is suspended by the next delivery that exhausts. */
const longestFailing = 5 * 24 * 60 * 60_000;

/**
 * Notes what an attempt says about its webhook. Throws only when a receiver that is gone could not be suspended: nobody
 * would ever ask it again. Whatever else cannot be noted now, the next attempt notes.
 */
export type NoteHealth = (webhook: Webhook, outcome: AttemptOutcome, after: Delivery) => Promise<void>;

/** What noting stands on. */
export interface HealthNotesDependencies extends DeliveryTelemetry {
  readonly health: WebhookHealth;
  /** Called before a webhook is suspended. */
  readonly noteSuspension: NoteSuspension;
  readonly now: Clock;
}

/** Makes the notes. The record is written when something changes: a busy webhook would otherwise throttle its own item. */
export const makeNoteHealth = ({ health, noteSuspension, now, log, count }: HealthNotesDependencies): NoteHealth => {
  const suspend = async (webhook: Webhook, reason: 'gone' | 'sem_sucesso') => {
    await noteSuspension(webhook);
    if (!(await health.suspend(webhook, reason))) return;
    count('WebhookSuspended');
    log.warn('webhook suspended', { account: webhook.accountId, event: webhook.evento, reason });
  };

  const noteFailing = async (webhook: Webhook, { outcome }: AttemptOutcome, after: Delivery) => {
    const { failingSince } = webhook;
    if (outcome === 'gone') return suspend(webhook, 'gone');
    if (outcome === 'delivered' && failingSince !== undefined) await health.recovered(webhook);
    if (outcome !== 'failed') return;
    if (failingSince === undefined) await health.startedFailing(webhook);
    else if (after.state === 'falhou' && now() - failingSince >= longestFailing) await suspend(webhook, 'sem_sucesso');
  };

  return async (webhook, outcome, after) => {
    try {
      await noteFailing(webhook, outcome, after);
    } catch (error) {
      log.error('webhook health not stored', { ...describeDelivery(after), ...describeError(error) });
      if (outcome.outcome === 'gone') throw error;
    }
  };
};
