import type { AttemptRecord, Delivery, DeliveryState } from '../../lambdas/delivery/delivery.ts';
import { wireResults } from '../../lambdas/delivery/representation.ts';
import { skipReason } from '../../lambdas/delivery/transitions.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { wireReasons } from '../../lambdas/webhooks/representation.ts';
import type { Webhook } from '../../lambdas/webhooks/webhook.ts';
import type { LoggedLine } from '../stage/cloudwatch.ts';
import type { DeadLetter } from '../stage/queues.ts';
import { withEnglishName } from './state-words.ts';

/** A verdict with its reason. */
export interface Verdict {
  readonly verdict: EventVerdict;
  readonly why: string;
}

/**
 * Returns the verdict on an event from its delivery and the currently registered webhook.
 * @param slowSince - the time at which the attempts moved to the slow lane, if they did.
 */
export function verdictFromDelivery(delivery: Delivery, webhook: Webhook | undefined, slowSince?: number): Verdict {
  const latest = delivery.attempts.at(-1);
  const last = latest ? describeAttempt(latest) : 'no attempt has been made';
  switch (delivery.state) {
    case 'pending':
      // The next attempt will cancel a delivery for an earlier registration.
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
 * Returns the verdict on an event from a log line, or `undefined` if the line does not contain an outcome.
 * @param lines - lines about attempts with an outcome that could not be stored.
 */
export function verdictFromLine({ at, fields }: LoggedLine, lines: readonly LoggedLine[] = []): Verdict | undefined {
  const { message, messageId, reason, detail, account, event, state, seconds } = fields;
  const time = isoTime(at);
  if (message === 'delivery.outcome_not_stored') {
    const why = `${describeUnstored(fields)}. It will be attempted again, so the receiver may get it twice`;
    return { verdict: 'pending', why };
  }
  if (message === 'event.without_webhook') {
    const attempted = lines.find(line => line.fields.messageId === messageId);
    if (attempted) return verdictFromUnstored(attempted.fields);
    const why = `at ${time} account ${account} had no webhook for ${event}`;
    return { verdict: 'no webhook', why };
  }
  if (message === 'event.rejected') {
    const why = `its message ${messageId} was rejected at ${time} as ${reason} (${detail}): run "dlq show ${messageId}"`;
    return { verdict: 'rejected', why };
  }
  if (message === 'message.deferred') {
    const why = `at ${time} an internal error prevented its processing; the next attempt was ${seconds} s later`;
    return { verdict: 'pending', why };
  }
  if (message === 'delivery.shed') {
    const why = `at ${time} a process already had the maximum number of attempts for its webhook in flight; it is attempted again within seconds`;
    return { verdict: 'pending', why };
  }
  const ended = isFinal(state) ? state : endings[String(message)];
  if (ended === undefined) return undefined;
  const why = `according to the log of ${time}; the record has expired`;
  return { verdict: verdicts[ended], why };
}

/** Adds a hint about the message's location to the verdict on a waiting event, if the message is overdue. */
export function withOverdueHint(
  current: Verdict,
  { at, fields }: LoggedLine,
  { now, hint }: { readonly now: number; readonly hint: string },
): Verdict {
  const { seconds = 0 } = fields;
  if (current.verdict !== 'pending' || now <= at + Number(seconds) * 1_000 + toleratedMs) return current;
  return { ...current, why: `${current.why}. It is overdue, ${hint}` };
}

/** A busy lane may receive a message some time after its visibility timeout ends. */
const toleratedMs = 15 * 60_000;

/** Returns whether a line is about an attempt with an outcome that could not be stored. */
export function isUnstored({ fields }: LoggedLine): boolean {
  return fields.message === 'delivery.outcome_not_stored';
}

/** Returns the verdict on an event if its webhook was deleted before the outcome of an attempt could be stored. */
function verdictFromUnstored(fields: LoggedLine['fields']): Verdict {
  const verdict = fields.result === 'delivered' ? 'delivered' : 'cancelled';
  const why = `${describeUnstored(fields)} before its webhook was deleted; the delivery has no record`;
  return { verdict, why };
}

function describeUnstored({ attempt, result, status }: LoggedLine['fields']): string {
  const results: Readonly<Record<string, string>> = wireResults;
  return `attempt ${attempt}: ${describeResult(String(results[String(result)]), status)}, and the outcome could not be stored`;
}

/** Returns the verdict on a message that reused the id of an earlier event for different content. */
function verdictFromConflict(lines: readonly LoggedLine[], messageId: string): Verdict | undefined {
  const line = lines.find(
    ({ fields }) => fields.message === 'event.conflicting_copy' && fields.messageId === messageId,
  );
  if (!line) return undefined;
  const why = `at ${isoTime(line.at)} it was dropped, because it reused the event id of delivery ${line.fields.deliveryId} for different content`;
  return { verdict: 'rejected', why };
}

/**
 * Returns the verdict on a message from the newest log line about its outcome. Returns `undefined` if the message became
 * a delivery, or is a copy of a message that did.
 * @param unstoredLines - lines about attempts with an outcome that could not be stored.
 */
export function verdictFromMessage(
  lines: readonly LoggedLine[],
  messageId: string,
  unstoredLines: readonly LoggedLine[] = lines.filter(isUnstored),
): Verdict | undefined {
  const line = lines.find(({ fields }) => fields.messageId === messageId && endsMessage.test(String(fields.message)));
  return line && endsOwnMessage(line)
    ? (verdictFromConflict([line], messageId) ?? verdictFromLine(line, unstoredLines))
    : undefined;
}

/** Returns whether a line shows that its message did not become a delivery, even if another message with the same id did. */
export function endsOwnMessage({ fields }: LoggedLine): boolean {
  return String(fields.message).startsWith('event.') && fields.message !== 'event.duplicate';
}

/** Returns the verdict on an event from its dead-letter message. */
export function verdictFromDeadLetter({ origin: { messageId }, reason, detail }: DeadLetter): Verdict {
  const end = reason === null ? 'could not be processed after 1,000 receives' : `was rejected as ${reason} (${detail})`;
  const why = `its message ${end}, and is in the dead-letter queue: run "dlq show ${messageId}"`;
  return { verdict: 'rejected', why };
}

/** The outcome of an event. */
type EventVerdict = 'delivered' | 'pending' | 'failed' | 'held' | 'cancelled' | 'no webhook' | 'rejected' | 'unknown';

const endsMessage = /^(event|delivery)\.(?!shed$)/;

function describeAttempt({ number, startedAt, result, status }: AttemptRecord): string {
  return `attempt ${number} at ${startedAt}: ${describeResult(wireResults[result], status)}`;
}

function describeResult(result: string, status: unknown): string {
  return `${withEnglishName(wireResults, result)}${status == null ? '' : `, status ${status}`}`;
}

function isCurrent({ webhookId }: Delivery, webhook: Webhook | undefined): webhook is Webhook {
  return webhook?.webhookId === webhookId;
}

const cancelled: Verdict = {
  verdict: 'cancelled',
  why: 'its webhook was deleted or registered again before the event was sent',
};

/** The verdict if the webhook is still registered. Only tests are cancelled in this case. */
const cancelledTest: Verdict = {
  verdict: 'cancelled',
  why: 'an operator suspended its webhook before the event was sent',
};

function whyWaiting(delivery: Delivery, webhook: Webhook, last: string, slowSince: number | undefined): string {
  const { attempt, wait } = delivery;
  const due = `attempt ${attempt} is due at ${wait ? isoTime(wait.nextAttemptAt) : 'once'}; ${last}`;
  const end = skipReason(delivery, webhook);
  if (end) return `${due}. Its webhook is suspended: ${reasonOf(webhook)}. The event is ${end} when the attempt is due`;
  if (slowSince === undefined) return due;
  return `${due}. Its receiver has been slow since ${isoTime(slowSince)}, so its attempts use the slow lane`;
}

function whyHeld(delivery: Delivery, webhook: Webhook | undefined): string {
  if (!isCurrent(delivery, webhook))
    return 'its webhook was suspended and then deleted, so the event can no longer be sent';
  return webhook.status === 'suspended'
    ? `its webhook is suspended: ${reasonOf(webhook)}. Run "webhooks reactivate", then "deliveries resend" or "deliveries replay"`
    : 'its webhook was suspended and is active again: run "deliveries resend" or "deliveries replay"';
}

export function reasonOf({ suspensionReason }: Webhook): string {
  return suspensionReason === null ? '-' : withEnglishName(wireReasons, wireReasons[suspensionReason]);
}

const verdicts: Readonly<Record<DeliveryState, EventVerdict>> = {
  pending: 'pending',
  delivered: 'delivered',
  failed: 'failed',
  held: 'held',
  cancelled: 'cancelled',
};

/** Returns whether a value is a final state. */
function isFinal(value: unknown): value is DeliveryState {
  return typeof value === 'string' && value !== 'pending' && Object.hasOwn(verdicts, value);
}

/** The log messages about deliveries that ended without an attempt. */
const endings: Readonly<Record<string, DeliveryState>> = {
  'delivery.held': 'held',
  'delivery.cancelled': 'cancelled',
};
