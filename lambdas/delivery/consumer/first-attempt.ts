import type { Clock } from '../../platform/clock.ts';
import { type Delivery, newDelivery } from '../delivery.ts';
import type { MoveToDeadLetters } from '../intake/dead-letters.ts';
import { type BusinessEvent, haveSameContent, parseEventMessage } from '../intake/event.ts';
import { originOfRecord, wasRegisteredBy } from '../intake/origin.ts';
import { noticeId } from '../intake/rejection-notice.ts';
import type { RejectionNotices } from '../intake/rejection-notices.ts';
import type { UnregisteredEvents } from '../intake/unregistered-events.ts';
import type { Admit } from '../lanes/admission.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { ProcessRecord } from './batch-consumer.ts';
import { type DescribeMessage, receiveCountOf } from './message-visibility.ts';
import { type InFlightMessage, inFlightMessage, type ProcessDelivery } from './process-delivery.ts';
import type { FindWebhookState } from './webhook-state.ts';

/**
 * Returns the function that makes the first attempt of an event. The function parses the message, admits it, reads the webhook and
 * processes the delivery. Copies of an event have the same id. The function drops all copies after the first.
 */
export function makeFirstAttempt(dependencies: FirstAttemptDependencies): ProcessRecord {
  const { admit, findWebhookState, processDelivery, store } = dependencies;
  const { moveToDeadLetters, rejectionNotices, unregisteredEvents, demandsUrl } = dependencies;
  const { now, log, count } = dependencies;

  return async function firstAttempt(record, consumer) {
    const { messageId, sentAt: acceptedAt = now() } = originOfRecord(record);
    const parsed = parseEventMessage(record.body, messageId, demandsUrl);
    if (parsed.outcome === 'rejected') {
      const { deliveryId, publisherId, accountId: account, eventName: event, reason, detail } = parsed;
      const sender = record.attributes.SenderId || unknownSender;
      await moveToDeadLetters(record, parsed, () => {
        log.warn('event.rejected', { messageId, deliveryId, account, event, sender, reason, detail });
      });
      rejectionNotices.add({ messageId, id: noticeId(publisherId), sender, reason, detail });
      return 'processed';
    }
    const { deliveryId, accountId, eventName } = parsed.event;
    const receiveCount = receiveCountOf(record);
    const admission = admit(parsed.event, receiveCount);
    if (admission.outcome === 'shed') {
      // Until the event is stored, only the log contains a record of it. One line is enough.
      if (receiveCount === 1)
        log.info('delivery.shed', { messageId, deliveryId, account: accountId, event: eventName });
      return 'shed';
    }
    // A redriven event retains its acceptance time, but its schedule and the time limit for internal errors restart.
    const scheduledAt = Number(record.attributes.SentTimestamp) || now();
    const inFlight = inFlightMessage(admission, consumer);
    const sender = record.attributes.SenderId || unknownSender;
    await attemptEvent(parsed.event, { messageId, acceptedAt, scheduledAt, sender }, inFlight).finally(
      admission.release,
    );
    return 'processed';
  };

  async function attemptEvent(
    event: BusinessEvent,
    { messageId, acceptedAt, scheduledAt, sender }: Origin,
    inFlight: InFlightMessage,
  ): Promise<void> {
    const { deliveryId: id, accountId, eventName, body } = event;
    const fields = { messageId, deliveryId: id, account: accountId, event: eventName };
    const { delivery: existing, webhook, slowness } = await findWebhookState(id, accountId, eventName);
    if (existing) return dropCopy(existing, event, sender, fields);
    if (!webhook || !wasRegisteredBy(acceptedAt, webhook)) {
      count('EventWithoutWebhook');
      log.info('event.without_webhook', fields);
      unregisteredEvents.record(accountId, eventName, acceptedAt);
      return;
    }
    const { webhookId } = webhook;
    const accepted = { id, messageId, accountId, eventName, webhookId, body, createdAt: acceptedAt };
    await processDelivery({ ...newDelivery(accepted), scheduledAt }, { webhook, slowness }, create, inFlight);

    /** Stores the delivery. If a different event with this id was stored during the attempt, notifies the publisher. */
    async function create(delivery: Delivery): Promise<boolean> {
      if (await store.create(delivery)) return true;
      const [first] = await store.read([id]);
      if (first && !haveSameContent(first.body, body)) reportIdReuse(first, event, sender, fields);
      return false;
    }
  }

  function dropCopy(existing: Delivery, event: BusinessEvent, sender: string, fields: EventFields): void {
    if (haveSameContent(existing.body, event.body)) {
      log.info('event.duplicate', { ...fields, state: existing.state });
    } else reportIdReuse(existing, event, sender, fields);
  }

  function reportIdReuse(
    existing: Delivery,
    { publisherId }: BusinessEvent,
    sender: string,
    fields: EventFields,
  ): void {
    log.warn('event.conflicting_copy', { ...fields, state: existing.state });
    const { messageId } = fields;
    rejectionNotices.add({ messageId, id: noticeId(publisherId), sender, reason: 'id_reused', detail: idReused });
  }
}

export function makeDescribeEvent(demandsUrl: string): DescribeMessage {
  return function describeEvent(record) {
    const parsed = parseEventMessage(record.body, originOfRecord(record).messageId, demandsUrl);
    const { deliveryId, accountId: account, eventName: event } = parsed.outcome === 'rejected' ? parsed : parsed.event;
    return { deliveryId, account, event };
  };
}

interface FirstAttemptDependencies extends DeliveryTelemetry {
  readonly admit: Admit;
  readonly findWebhookState: FindWebhookState;
  readonly processDelivery: ProcessDelivery;
  readonly store: Pick<DeliveryStore, 'create' | 'read'>;
  readonly moveToDeadLetters: MoveToDeadLetters;
  readonly rejectionNotices: Pick<RejectionNotices, 'add'>;
  readonly unregisteredEvents: Pick<UnregisteredEvents, 'record'>;
  readonly demandsUrl: string;
  readonly now: Clock;
}

/** The fields of an event's log lines. */
interface EventFields {
  readonly messageId: string;
}

/** The origin of a message. `scheduledAt` is the time of its latest publication or redrive. */
interface Origin {
  readonly messageId: string;
  readonly acceptedAt: number;
  readonly scheduledAt: number;
  readonly sender: string;
}

/** The detail of the notice that a publisher receives about a dropped copy. */
const idReused =
  'id: an earlier event with this id, account and name has different fields, and this event was dropped: use a new id';

/** The sender if SQS omits it, because a subscription cannot filter by an empty string. */
const unknownSender = 'unknown';
