import type { AttemptRecord, Delivery, DeliveryState } from '../../lambdas/delivery/delivery.ts';
import { wireResults } from '../../lambdas/delivery/representation.ts';
import { skipReason } from '../../lambdas/delivery/transitions.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { wireReasons } from '../../lambdas/webhooks/representation.ts';
import type { Webhook } from '../../lambdas/webhooks/webhook.ts';
import type { LoggedLine } from '../stage/cloudwatch.ts';
import type { DeadLetter } from '../stage/queues.ts';
import { inEnglish } from './state-words.ts';

/** A verdict with its reason. */
export interface Judgement {
  readonly verdict: EventVerdict;
  readonly why: string;
}

/**
 * Judges an event by its delivery and by the webhook that is registered now.
 * @param slowSince - since when its attempts use the slow lane, if they do and the time is known.
 */
export function judgeDelivery(delivery: Delivery, webhook: Webhook | undefined, slowSince?: number): Judgement {
  const latest = delivery.attempts.at(-1);
  const last = latest ? describeAttempt(latest) : 'no attempt has been made';
  switch (delivery.state) {
    case 'pending':
      // The next attempt will detect that and cancel the delivery.
      if (!isCurrent(delivery, webhook)) return cancelled;
      return { verdict: 'pending', why: whyWaiting(delivery, webhook, last, slowSince) };
    case 'held':
      return { verdict: 'held', why: whyHeld(delivery, webhook) };
    case 'cancelled':
      return isCurrent(delivery, webhook) ? cancelledTest : cancelled;
    default:
      return { verdict: verdicts[delivery.state], why: last };
  }
}

/**
 * Judges an event by one line of the log. Returns `undefined` if the line does not show the event's fate.
 * @param unstored - lines of attempts whose outcome could not be stored.
 */
export function judgeLine({ at, fields }: LoggedLine, unstored: readonly LoggedLine[] = []): Judgement | undefined {
  const { message, messageId, reason, detail, account, event, state, seconds } = fields;
  const moment = isoTime(at);
  if (message === 'delivery.outcome_not_stored') {
    const why = `${describeUnstored(fields)}. It will be attempted again, and may be sent twice`;
    return { verdict: 'pending', why };
  }
  if (message === 'event.without_webhook') {
    const attempted = unstored.find(line => line.fields.messageId === messageId);
    if (attempted) return judgeUnstored(attempted.fields);
    const why = `at ${moment} account ${account} had no webhook for ${event}`;
    return { verdict: 'no webhook', why };
  }
  if (message === 'event.rejected') {
    const why = `its message ${messageId} was rejected at ${moment} as ${reason} (${detail}): "dlq show ${messageId}" shows it`;
    return { verdict: 'rejected', why };
  }
  if (message === 'message.deferred') {
    const why = `at ${moment} it could not be processed because of an internal error; the next try was ${seconds} s later`;
    return { verdict: 'pending', why };
  }
  if (message === 'delivery.shed') {
    const why = `at ${moment} a process had the maximum number of attempts for its webhook in flight; it is tried again within seconds`;
    return { verdict: 'pending', why };
  }
  const ended = isFinal(state) ? state : endings[String(message)];
  if (ended === undefined) return undefined;
  const why = `according to the log of ${moment}; the record has expired`;
  return { verdict: verdicts[ended], why };
}

/** Judges a waiting event by a line of the log. If its message is overdue, the verdict hints at its location. */
export function judgeOverdue(
  judged: Judgement,
  { at, fields }: LoggedLine,
  { now, hint }: { readonly now: number; readonly hint: string },
): Judgement {
  const { seconds = 0 } = fields;
  if (judged.verdict !== 'pending' || now <= at + Number(seconds) * 1_000 + toleratedMs) return judged;
  return { ...judged, why: `${judged.why}. It is overdue, ${hint}` };
}

/** A busy lane may receive a message later than its visibility timeout ends. */
const toleratedMs = 15 * 60_000;

/** Returns whether a line is about an attempt whose outcome could not be stored. */
export function isUnstored({ fields }: LoggedLine): boolean {
  return fields.message === 'delivery.outcome_not_stored';
}

/** Judges an event whose webhook was deleted before the outcome of an attempt could be stored. */
function judgeUnstored(fields: LoggedLine['fields']): Judgement {
  const verdict = fields.result === 'delivered' ? 'delivered' : 'cancelled';
  const why = `${describeUnstored(fields)} before its webhook was deleted; there is no record of it`;
  return { verdict, why };
}

function describeUnstored({ attempt, result, status }: LoggedLine['fields']): string {
  const results: Readonly<Record<string, string>> = wireResults;
  return `attempt ${attempt}: ${describeResult(String(results[String(result)]), status)}, and the outcome could not be stored`;
}

/** Judges a message that reused the id of an earlier event for different content. The events have different fates. */
function judgeConflict(lines: readonly LoggedLine[], messageId: string): Judgement | undefined {
  const line = lines.find(
    ({ fields }) => fields.message === 'event.conflicting_copy' && fields.messageId === messageId,
  );
  if (!line) return undefined;
  const why = `at ${isoTime(line.at)} it was dropped, because it reused the id of the event of delivery ${line.fields.deliveryId} for different content`;
  return { verdict: 'rejected', why };
}

/**
 * Judges a message by its newest own line with a final state. Returns `undefined` if the message became a delivery, or
 * is a copy of a delivery's message and shares its fate.
 * @param unstored - lines of attempts whose outcome could not be stored.
 */
export function judgeMessage(
  lines: readonly LoggedLine[],
  messageId: string,
  unstored: readonly LoggedLine[] = lines.filter(isUnstored),
): Judgement | undefined {
  const line = lines.find(({ fields }) => fields.messageId === messageId && endsMessage.test(String(fields.message)));
  return line && endsOwn(line) ? (judgeConflict([line], messageId) ?? judgeLine(line, unstored)) : undefined;
}

/** Returns whether a line shows that its own message became no delivery, regardless of other messages with its id. */
export function endsOwn({ fields }: LoggedLine): boolean {
  return String(fields.message).startsWith('event.') && fields.message !== 'event.duplicate';
}

/** Judges an event by its dead-letter message. */
export function judgeDeadLetter({ origin: { messageId }, reason, detail }: DeadLetter): Judgement {
  const said =
    reason === null ? 'could not be processed after 1,000 receives' : `was rejected as ${reason} (${detail})`;
  const why = `its message ${said}, and is in the dead-letter queue: "dlq show ${messageId}"`;
  return { verdict: 'rejected', why };
}

/** The fate of an event, in one word. */
type EventVerdict = 'delivered' | 'pending' | 'failed' | 'held' | 'cancelled' | 'no webhook' | 'rejected' | 'unknown';

const endsMessage = /^(event|delivery)\.(?!shed$)/;

function describeAttempt({ number, startedAt, result, status }: AttemptRecord): string {
  return `attempt ${number} at ${startedAt}: ${describeResult(wireResults[result], status)}`;
}

function describeResult(result: string, status: unknown): string {
  return `${inEnglish(wireResults, result)}${status == null ? '' : `, status ${status}`}`;
}

function isCurrent({ webhookId }: Delivery, webhook: Webhook | undefined): webhook is Webhook {
  return webhook?.webhookId === webhookId;
}

const cancelled: Judgement = {
  verdict: 'cancelled',
  why: 'its webhook was deleted or registered again before it was sent',
};

/** The verdict while the webhook is still registered. In that case, only a test can have been cancelled. */
const cancelledTest: Judgement = {
  verdict: 'cancelled',
  why: 'an operator suspended its webhook before it was sent',
};

function whyWaiting(delivery: Delivery, webhook: Webhook, last: string, slowSince: number | undefined): string {
  const { attempt, wait } = delivery;
  const due = `attempt ${attempt} is due at ${wait ? isoTime(wait.nextAttemptAt) : 'once'}; ${last}`;
  const end = skipReason(delivery, webhook);
  if (end) return `${due}. Its webhook is suspended: ${reasonOf(webhook)}. The event is ${end} when the attempt is due`;
  if (slowSince === undefined) return due;
  return `${due}. Its receiver has been slow since ${isoTime(slowSince)}, so its attempts are made in the slow lane`;
}

function whyHeld(delivery: Delivery, webhook: Webhook | undefined): string {
  if (!isCurrent(delivery, webhook)) return 'its webhook was suspended and then deleted, so it can no longer be sent';
  return webhook.status === 'suspended'
    ? `its webhook is suspended: ${reasonOf(webhook)}. Run "webhooks reactivate", then "deliveries resend" or "deliveries replay"`
    : 'its webhook was suspended and is active again: run "deliveries resend" or "deliveries replay"';
}

export function reasonOf({ suspensionReason }: Webhook): string {
  return suspensionReason === null ? '-' : inEnglish(wireReasons, wireReasons[suspensionReason]);
}

const verdicts: Readonly<Record<DeliveryState, EventVerdict>> = {
  pending: 'pending',
  delivered: 'delivered',
  failed: 'failed',
  held: 'held',
  cancelled: 'cancelled',
};

/** Returns whether a value is a final state. The log may outlive the record, but a pending delivery has its record. */
function isFinal(value: unknown): value is DeliveryState {
  return typeof value === 'string' && value !== 'pending' && Object.hasOwn(verdicts, value);
}

/** The log lines of deliveries that ended without an attempt. */
const endings: Readonly<Record<string, DeliveryState>> = {
  'delivery.held': 'held',
  'delivery.cancelled': 'cancelled',
};
