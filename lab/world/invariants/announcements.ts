import { isTest } from '../../../lambdas/delivery/delivery.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { isoTime } from '../../../lambdas/platform/clock.ts';
import { wireReasons } from '../../../lambdas/webhooks/representation.ts';
import { type EventName, parseWebhook, webhookIn } from '../../../lambdas/webhooks/webhook.ts';
import { type Account, eventName } from '../arrival.ts';
import type { World } from '../make-world.ts';
import { operationsTopic } from '../stage.ts';
import { clockError, day, minute, second } from '../times.ts';
import { isFailure } from './attempts.ts';
import type { Evidence } from './evidence.ts';
import type { Check, Violate } from './violation.ts';

/**
 * Checks the announcements to operators. Each suspension and reactivation must be announced. Without faults, no change
 * may be announced twice. The sweeper may skip a change if another change or a deletion follows before the next sweep.
 */
export function checkAnnouncements(
  { cloud, accounts, people, receivers, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    for (const account of accounts) checkFailures(account);
    const announcements = readAnnouncements();
    const causes = accounts.flatMap(causesOf);
    for (const cause of causes) {
      const count = announcements.filter(one => matches(one, cause)).length;
      if (count === 0 && isRequired(cause, causes)) violate(`announcement missing: ${JSON.stringify(cause)}`);
      if (count > 1 && faultClass === 'none') violate(`announced twice without faults: ${JSON.stringify(cause)}`);
    }
    for (const one of announcements) {
      const isByAttempt = one.type !== 'webhook.reactivated' && one.reason !== wireReasons.operator;
      const isComplete = !isByAttempt || (one.deliveryId !== null && one.lastResult !== null);
      if (!isComplete || one.attribute !== one.type) violate(`announcement incomplete: ${JSON.stringify(one)}`);
      if (!causes.some(cause => matches(one, cause))) violate(`announcement without a cause: ${JSON.stringify(one)}`);
      const hasReturned410 = receivers.postsOf(one.deliveryId ?? '').some(({ status }) => status === 410);
      if (one.reason === wireReasons.gone && !hasReturned410)
        violate(`suspended, but no receiver returned 410: ${JSON.stringify(one)}`);
    }
  }

  /** Checks that the service announces failures after 1 and 4 days, and suspends the webhook after 5 days of failures. */
  function checkFailures({ id: accountId, event = eventName, failingFor }: Account): void {
    const changes = evidence().webhookChanges({ accountId, eventName: event });
    for (const [index, { at, item }] of changes.entries()) {
      const isNew = item?.suspensionReason !== changes[index - 1]?.item?.suspensionReason;
      if (isNew && item?.suspensionReason === 'gone' && item.failingSince === undefined)
        violate(`a 410 suspended a webhook without failures: ${accountId}`);
      if (item?.suspensionReason === 'no_success' && at - Number(item.failingSince) < 5 * day - clockError)
        violate(`suspended without five days of failures: ${accountId}`);
    }
    if (failingFor === undefined) return;
    const markAt = Number(changes[0]?.item?.failingSince) + failingFor + minute / 2;
    const endsAt = Math.min(...changes.filter(({ item }) => item?.failingSince === undefined).map(({ at }) => at));
    const failures = [...evidence().deliveries.values()].flat().filter(({ at, delivery }) => {
      const record = delivery?.attempts.at(-1);
      const isOwn = delivery?.accountId === accountId && delivery.eventName === event && !isTest(delivery);
      return (
        isOwn &&
        record &&
        isFailure(record) &&
        at < endsAt - second &&
        Date.parse(record.startedAt) > markAt + clockError
      );
    });
    const isSuspensionDue = failingFor > 4 * day;
    const relevant = isSuspensionDue ? failures.filter(({ delivery }) => delivery?.state === 'failed') : failures;
    const isReported = changes.some(({ item }) =>
      isSuspensionDue ? item?.suspensionReason === 'no_success' : Number(item?.failingMark) >= failingFor,
    );
    // If the service does not record one failure, it records the next one. A crash may lose all failures of a second.
    const failureSeconds = new Set(relevant.map(({ at }) => Math.floor(at / second))).size;
    if (!isReported && failureSeconds > (faultClass === 'none' || isSuspensionDue ? 0 : 5))
      violate(`neither announced nor suspended after long failures: ${accountId}`);
  }

  function readAnnouncements(): readonly Announcement[] {
    const published = cloud.published.filter(({ topicArn }) => topicArn === operationsTopic);
    return published.map(({ message: { Message = '', MessageAttributes } }) => {
      const announcement: Omit<Announcement, 'attribute'> = JSON.parse(Message);
      return { ...announcement, attribute: MessageAttributes?.type?.StringValue };
    });
  }

  /** Returns whether a change must be announced. The sweeper may skip a change without a webhook or shortly before another change. */
  function isRequired(cause: Cause, causes: readonly Cause[]): boolean {
    const { accountId, event, webhookId, at } = cause;
    if (webhookId === undefined || people.wasDeleted(accountId, at)) return false;
    const dueAt = at + (faultClass === 'none' ? 2 : 10) * minute;
    const next = causes[causes.indexOf(cause) + 1];
    const isReplaced = next?.accountId === accountId && next.event === event && next.at < dueAt;
    const webhooks = evidence().webhooksWithin({ accountId, eventName: event }, at, dueAt);
    return !isReplaced && webhooks.every(webhook => webhook?.webhookId === webhookId);
  }

  function causesOf({ id: accountId, event = eventName }: Account): readonly Cause[] {
    const changes = evidence().webhookChanges({ accountId, eventName: event });
    return changes.flatMap(({ at, item: after }, index) => {
      const before = changes[index - 1]?.item;
      const type = after && typeOf(before, after);
      if (!after || type === undefined) return [];
      const reason = webhookIn(after)?.suspensionReason ?? (type === 'webhook.suspended' ? 'operator' : null);
      const webhookId = after.webhookId === undefined ? undefined : parseWebhook(after).webhookId;
      const since = isoTime(Number(sinceOf(type, before, after)));
      return [{ at, accountId, event, type, since, reason: reason && wireReasons[reason], webhookId }];
    });
  }
}

/** A change that requires an announcement. */
interface Cause extends Pick<Announcement, 'accountId' | 'event' | 'type' | 'since' | 'reason'> {
  readonly at: number;
  /** The id of the webhook, or `undefined` if no webhook was registered. */
  readonly webhookId: string | undefined;
}

interface Announcement {
  readonly accountId: string;
  readonly event: EventName;
  readonly type: string;
  readonly since: string;
  readonly reason: string | null;
  readonly webhookId: string;
  readonly lastResult: string | null;
  readonly deliveryId: string | null;
  /** The message attribute for subscription filters. */
  readonly attribute: string | undefined;
}

function typeOf(before: Item | undefined, after: Item): string | undefined {
  const isSuspended = after.status === 'suspended';
  if (isSuspended && before?.suspensionReason !== after.suspensionReason) return 'webhook.suspended';
  const isSame = before?.webhookId !== undefined && before.webhookId === after.webhookId;
  if (isSame && after.failingMark !== undefined && before.failingMark !== after.failingMark) return 'webhook.failing';
  if (isSame && before.announcedSince !== undefined && after.announcedSince === undefined) return 'webhook.recovered';
  return isSame && before.status === 'suspended' && after.status === 'active' ? 'webhook.reactivated' : undefined;
}

function sinceOf(type: string, before: Item | undefined, after: Item): unknown {
  if (type === 'webhook.failing') return after.failingSince;
  return type === 'webhook.recovered' ? before?.announcedSince : after.updatedAt;
}

function matches(announcement: Announcement, { accountId, event, type, since, reason, webhookId }: Cause): boolean {
  const isSameWebhook = announcement.accountId === accountId && announcement.event === event;
  const isSame =
    isSameWebhook && announcement.type === type && announcement.since === since && announcement.reason === reason;
  return isSame && (webhookId === undefined || announcement.webhookId === webhookId);
}
