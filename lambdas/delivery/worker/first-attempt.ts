import type { Clock } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Delivery, newDelivery } from '../delivery.ts';
import type { DeliveryStore } from '../delivery-store.ts';
import { haveSameContent, parseEventMessage } from '../event.ts';
import { originOfRecord } from '../origin.ts';
import type { SendToDeadLetters } from '../queues.ts';
import { noticedId } from '../refusal-notice.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { ProcessRecord } from './batch-consumer.ts';
import { receiveCountOf } from './message-visibility.ts';
import type { ProcessDelivery, RecordOutcome } from './process-delivery.ts';
import type { RefusalNotices } from './refusal-notices.ts';
import type { FindWebhookState } from './webhook-state.ts';

/**
 * Returns the function that makes the first attempt of an event: parse its message, find the webhook, process the delivery.
 * Copies of an event have one id; a second copy is dropped.
 */
export function makeFirstAttempt(dependencies: FirstAttemptDependencies): ProcessRecord {
  const { findWebhookState, processDelivery, store, sendToDeadLetters, refusals, demandsUrl, now, log, count } =
    dependencies;

  return async function firstAttempt(record, onAttempt) {
    const { messageId, sentAt: acceptedAt = now() } = originOfRecord(record);
    const parsed = parseEventMessage(record.body, messageId, demandsUrl);
    if (parsed.outcome === 'rejected') {
      const { deliveryId, publisherId, reason, detail } = parsed;
      const sender = record.attributes.SenderId || unknownSender;
      await sendToDeadLetters(record, parsed);
      count('DeadLettered');
      log.warn('event.refused', { messageId, deliveryId, sender, reason, detail });
      refusals.add({ messageId, id: noticedId(publisherId), sender, reason, detail });
      return 'processed';
    }
    const { deliveryId: id, accountId, eventName, body } = parsed.event;
    const described = { messageId, deliveryId: id, account: accountId, event: eventName };

    const { delivery: known, webhook, slowness } = await findWebhookState(id, accountId, eventName);
    if (known) return dropCopy(known, body, described);
    if (!isFor(webhook, acceptedAt)) {
      count('EventWithoutWebhook');
      log.info('event.without_webhook', described);
      return 'processed';
    }
    const { webhookId } = webhook;
    const event = { id, messageId, accountId, eventName, webhookId, body, createdAt: acceptedAt };
    // A redriven event keeps its age, but its schedule and the time for internal errors begin now.
    const scheduledAt = Number(record.attributes.SentTimestamp) || now();
    const delivery = { ...newDelivery(event), scheduledAt };
    return processDelivery(delivery, { webhook, slowness }, store.create, {
      receiveCount: receiveCountOf(record),
      onAttempt,
    });
  };

  function dropCopy({ body: knownBody, state }: Delivery, body: string, described: object): RecordOutcome {
    if (haveSameContent(knownBody, body)) {
      count('DuplicateDropped');
      log.info('event.duplicate', { ...described, state });
    } else {
      count('ConflictingCopyDropped');
      log.warn('event.conflicting_copy', { ...described, state });
    }
    return 'processed';
  }
}

interface FirstAttemptDependencies extends DeliveryTelemetry {
  readonly findWebhookState: FindWebhookState;
  readonly processDelivery: ProcessDelivery;
  readonly store: Pick<DeliveryStore, 'create'>;
  readonly sendToDeadLetters: SendToDeadLetters;
  readonly refusals: Pick<RefusalNotices, 'add'>;
  readonly demandsUrl: string;
  readonly now: Clock;
}

/** SQS names the sender of every message; a subscription cannot filter by an empty text. */
const unknownSender = 'unknown';

/** An event that waited in the queue while its webhook was deleted does not go to the one registered after that. */
function isFor(webhook: Webhook | undefined, acceptedAt: number): webhook is Webhook {
  return webhook !== undefined && webhook.createdAt <= acceptedAt + clockTolerance;
}

/** Clocks of the queue and of the registration may differ by this much, in milliseconds. */
const clockTolerance = 500;
