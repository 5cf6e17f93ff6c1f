import { noticesPerMinute } from '../../../lambdas/delivery/intake/rejection-notices.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { World } from '../make-world.ts';
import { deadLetters, queueOf, rejectedEventsTopic } from '../stage.ts';
import { minute, second } from '../times.ts';
import { isCrash } from '../world-result.ts';
import type { Evidence } from './evidence.ts';
import type { Check, Violate } from './violation.ts';

/**
 * Checks the rejection notices. Publishers must receive at least the first ten notices for each minute and reason. A copy
 * must cause a notice if it differs from the stored event.
 */
export function checkRejectionNotices(
  { cloud, bodies, metrics, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Check {
  const mayCrash = faultClass === 'crashes' || faultClass === 'all';
  return { checkAtEnd };

  function checkAtEnd(): void {
    if (faultClass === 'crashes' || faultClass === 'none') checkDeadLetters();
    checkCopies();
    for (const { origin, detail } of sentTo(deadLetters.queue)) {
      const isReported = ['reason', 'detail', 'sender'].every(name => detail.includes(`"${name}":{`));
      if (origin !== undefined && !isReported) violate(`${origin} became a dead-letter message without all attributes`);
    }
    const allRejections = readRejections();
    const notices = readNotices();
    for (const reason of new Set(allRejections.map(one => one.reason))) {
      const rejections = allRejections.filter(one => one.reason === reason);
      const own = notices.filter(one => one.reason === reason);
      checkReason(reason, rejections, own);
    }
    const rejectedIds = new Set(allRejections.map(({ messageId }) => messageId));
    for (const { messageId } of notices) {
      if (!rejectedIds.has(messageId)) violate(`a notice for message ${messageId}, which was not rejected`);
    }
  }

  /** Checks that each message becomes a dead-letter message once, unless its process crashes. A redriven message may become one again. */
  function checkDeadLetters(): void {
    const crashes = cloud.trace(isCrash).map(({ at }) => at);
    const redriven = new Set(sentTo(queueOf.first).map(({ origin }) => origin));
    const moved = Map.groupBy(sentTo(deadLetters.queue), ({ origin }) => origin);
    for (const [origin, [first, again]] of moved) {
      if (!first || !again || origin === undefined || redriven.has(origin)) continue;
      const hasCrashed = crashes.some(at => Math.abs(at - first.at) < maxMoveTime); // the last calls of the process may still arrive
      if (!hasCrashed) violate(`${origin} is in the dead-letter queue twice`);
    }
  }

  function checkCopies(): void {
    for (const { at, text } of cloud.logs({ text: copyLine })) {
      const { message = '', messageId = '', deliveryId = '' }: Partial<Record<string, string>> = JSON.parse(text);
      const changes = evidence().deliveries.get(deliveryId) ?? [];
      const stored = changes.findLast(change => change.at <= at && change.delivery)?.delivery?.body ?? '{}';
      const { link: _, ...fields }: Item = JSON.parse(stored);
      const copy: Item = JSON.parse(bodies.get(messageId) ?? '{}');
      const differs = Object.entries(fields).some(([name, value]) => copy[name] !== value);
      if (differs !== (message === 'event.conflicting_copy')) violate(`a copy was logged as ${message}`, deliveryId);
    }
  }

  function sentTo(queue: string) {
    return cloud
      .trace(({ kind, text }) => kind === 'message' && text.startsWith(`${queue} `))
      .map(({ at, detail }) => ({
        at,
        detail,
        origin: /"original_message_id":\{[^}]*"StringValue":"([^"]*)"/.exec(detail)?.[1],
      }));
  }

  function checkReason(reason: string, rejections: readonly Rejection[], notices: readonly Notice[]): void {
    const notifiedIds = new Set(notices.map(({ messageId }) => messageId));
    const rejectedIds = new Set(rejections.map(({ messageId }) => messageId));
    const isComplete = notifiedIds.size >= Math.min(noticesPerMinute, rejectedIds.size);
    if (!isComplete && !mayCrash && metrics.sum('NoticeNotSent') === 0)
      violate(`${reason}: ${notifiedIds.size} notices for ${rejections.length} events, and NoticeNotSent is 0`);
    if (faultClass !== 'none') return;
    if (!isComplete) violate(`${reason}: ${notifiedIds.size} notices for ${rejections.length} events without faults`);
    if (notifiedIds.size < notices.length) violate(`${reason}: two notices for one event without faults`);
    for (const minuteIndex of new Set(rejections.map(minuteOf))) {
      if (rejections.some(one => isNearBoundary(one, minuteIndex))) continue;
      const idsInMinute = new Set(
        rejections.filter(one => minuteOf(one) === minuteIndex).map(({ messageId }) => messageId),
      );
      const notifiedInMinute = idsInMinute.intersection(notifiedIds).size;
      const due = Math.min(noticesPerMinute, idsInMinute.size);
      if (notifiedInMinute < due)
        violate(`${reason}: ${notifiedInMinute} notices for ${idsInMinute.size} events in a minute`);
    }
  }

  /** Returns the rejections in the log. A message that arrives twice is rejected twice. */
  function readRejections(): readonly Rejection[] {
    return cloud.logs({ text: rejectionLine }).map(({ text }) => {
      const {
        messageId,
        reason = 'id_reused',
        timestamp,
      }: Omit<Rejection, 'reason'> & Partial<Rejection> = JSON.parse(text);
      return { messageId, reason, timestamp };
    });
  }

  function readNotices(): readonly Notice[] {
    const published = cloud.published.filter(({ topicArn }) => topicArn === rejectedEventsTopic);
    return published.map(({ message: { Message = '' } }): Notice => JSON.parse(Message));
  }
}

interface Rejection {
  readonly messageId: string;
  readonly reason: string;
  readonly timestamp: string;
}

interface Notice {
  readonly reason: string;
  readonly messageId: string;
}

/** The maximum time from sending a message to the dead-letter queue to its deletion from the lane's queue. */
const maxMoveTime = second;

const copyLine = /"message":"event\.(?:duplicate|conflicting_copy)"/;
const rejectionLine = /"message":"event\.(?:rejected|conflicting_copy)"/;

/** Returns whether an event was rejected shortly before a minute's start or end. Its notice may count for the next minute. */
function isNearBoundary({ timestamp }: Rejection, minuteIndex: number): boolean {
  const moment = Date.parse(timestamp);
  return [minuteIndex, minuteIndex + 1].some(end => moment < end * minute && moment > end * minute - maxMoveTime);
}

function minuteOf({ timestamp }: Rejection): number {
  return Math.floor(Date.parse(timestamp) / minute);
}
