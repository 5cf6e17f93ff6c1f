import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { AttemptOutcome, AttemptResult, Delivery } from '../delivery.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import type { WebhookHealthStore } from './webhook-health-store.ts';

/** Notes what an attempt says about its webhook. Never throws: what cannot be noted now, the next attempt notes. */
export type NoteHealth = (webhook: Webhook, outcome: AttemptOutcome, after: Delivery) => Promise<void>;

/** What noting stands on. */
export interface HealthNotesDependencies extends DeliveryTelemetry {
  readonly health: WebhookHealthStore;
  readonly now: Clock;
}

/** Makes the notes. The record is written when something changes: a busy webhook would otherwise throttle its own item. */
export function makeNoteHealth({ health, now, log, count }: HealthNotesDependencies): NoteHealth {
  const suspend = async (webhook: Webhook, lastResult: AttemptResult) => {
    if (!(await health.suspendFailing(webhook, lastResult))) return;
    count('WebhookSuspended');
    log.warn('webhook.suspended', { account: webhook.accountId, event: webhook.eventName, reason: 'no_success' });
  };

  /** The mark that the failing has passed, where that was not announced yet. */
  const unannouncedMark = ({ failingMark = 0 }: Webhook, failingFor: number): number | undefined =>
    failingMarks.findLast(mark => failingFor >= mark && failingMark < mark);

  const noteFailing = async (webhook: Webhook, { outcome, record }: AttemptOutcome, after: Delivery) => {
    const { failingSince } = webhook;
    if (outcome === 'delivered' && failingSince !== undefined) await health.recovered(webhook);
    if (outcome !== 'failed') return;
    if (failingSince === undefined) return void (await health.startedFailing(webhook));
    const failingFor = now() - failingSince;
    if (after.state === 'failed' && failingFor >= longestFailing) return suspend(webhook, record.result);
    const mark = unannouncedMark(webhook, failingFor);
    if (mark !== undefined) await health.announceFailing(webhook, mark, record.result);
  };

  return async function noteHealth(webhook, outcome, after) {
    try {
      await noteFailing(webhook, outcome, after);
    } catch (error) {
      log.error('webhook.health_not_stored', { ...describeDelivery(after), ...describeError(error) });
    }
  };
}

/** Operators are told when a webhook has done nothing but fail for so long, in milliseconds. */
const failingMarks = [24 * 60 * 60_000, 4 * 24 * 60 * 60_000] as const;

/** A webhook that has failed for this long, in milliseconds, is suspended by the next delivery that exhausts. */
const longestFailing = 5 * 24 * 60 * 60_000;
