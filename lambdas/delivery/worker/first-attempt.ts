import type { SQSRecord } from 'aws-lambda';
import type { Clock } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { newDelivery } from '../delivery.ts';
import type { DeliveryStore } from '../delivery-store.ts';
import { haveSameContent, parseEventMessage } from '../event.ts';
import { originOfRecord } from '../origin.ts';
import type { SendToDeadLetters } from '../queues.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { AtReceiver, ProcessDelivery } from './process-delivery.ts';
import type { FindWebhookState } from './webhook-state.ts';

/** Processes one message of a queue. To return is to acknowledge it; to throw is to leave it for later. */
export type ProcessRecord = (record: SQSRecord, atReceiver?: AtReceiver) => Promise<void>;

/** What first attempts stand on. */
export interface DeliverDependencies extends DeliveryTelemetry {
  readonly findWebhookState: FindWebhookState;
  readonly processDelivery: ProcessDelivery;
  readonly store: Pick<DeliveryStore, 'create'>;
  readonly sendToDeadLetters: SendToDeadLetters;
  readonly demandsUrl: string;
  readonly now: Clock;
}

/** Makes the first attempt of an event: parse, find the webhook, attempt, record the outcome. */
export function makeFirstAttempt(dependencies: DeliverDependencies): ProcessRecord {
  const { findWebhookState, processDelivery, store, sendToDeadLetters, demandsUrl, now, log, count } = dependencies;
  return async function deliver(record, atReceiver) {
    const origin = originOfRecord(record);
    const { messageId } = origin;
    const parsed = parseEventMessage(record.body, messageId, demandsUrl);
    if (parsed.outcome === 'rejected') {
      const { deliveryId, reason, detail } = parsed;
      await sendToDeadLetters(record, parsed);
      count('DeadLettered');
      log.warn('event.refused', { messageId, deliveryId, sender: record.attributes.SenderId, reason, detail });
      return;
    }
    const { deliveryId, accountId, eventName } = parsed.event;
    const acceptedAt = origin.sentAt ?? now();
    const said = { messageId, deliveryId, account: accountId, event: eventName };

    const { delivery: known, webhook, slowness } = await findWebhookState(deliveryId, accountId, eventName);
    if (known && !haveSameContent(known.body, parsed.event.body)) {
      count('ConflictingCopyDropped');
      log.warn('event.conflicting_copy', { ...said, state: known.state });
    } else if (known) {
      count('DuplicateDropped');
      log.info('event.duplicate', { ...said, state: known.state });
    } else if (isFor(webhook, acceptedAt)) {
      const { webhookId } = webhook;
      const { body } = parsed.event;
      const event = { id: deliveryId, messageId, accountId, eventName, webhookId, body, createdAt: acceptedAt };
      // A redriven event keeps its age, but its schedule and the patience for our own faults begin now.
      const scheduledAt = Number(record.attributes.SentTimestamp) || now();
      await processDelivery({ ...newDelivery(event), scheduledAt }, { webhook, slowness }, store.create, atReceiver);
    } else {
      count('EventWithoutWebhook');
      log.info('event.without_webhook', said);
    }
  };
}

/** An event that waited in the queue while its webhook was deleted does not go to the one registered after that. */
function isFor(webhook: Webhook | undefined, acceptedAt: number): webhook is Webhook {
  return webhook !== undefined && webhook.createdAt <= acceptedAt + clockTolerance;
}

/** Clocks of the queue and of the registration may differ by this much, in milliseconds. */
const clockTolerance = 500;
