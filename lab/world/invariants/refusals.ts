import { noticesPerMinute } from '../../../lambdas/delivery/intake/rejection-notices.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { World } from '../make-world.ts';
import { deadLetters, queueOf, refusedTopic } from '../stage.ts';
import { minute, second } from '../times.ts';
import type { Evidence } from './evidence.ts';
import type { Judgement, Violate } from './violation.ts';

/**
 * Checks the rejection notices. Publishers must receive at least the first ten notices of each minute and reason. A copy
 * must cause a notice if it differs from the stored event.
 */
export function judgeRefusals(
  { cloud, bodies, metrics, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  const mayDie = faultClass === 'deaths' || faultClass === 'all';
  return { judgeEnd };

  function judgeEnd(): void {
    if (faultClass === 'deaths' || faultClass === 'calm') judgeDeadLetters();
    judgeCopies();
    for (const { origin, detail } of sentTo(deadLetters.queue)) {
      const isReported = ['reason', 'detail', 'sender'].every(name => detail.includes(`"${name}":{`));
      if (origin !== undefined && !isReported) violate(`${origin} became a dead-letter message without all attributes`);
    }
    const rejected = readRefused();
    const notices = readNotices();
    for (const reason of new Set(rejected.map(one => one.reason))) {
      const rejections = rejected.filter(one => one.reason === reason);
      const own = notices.filter(one => one.reason === reason);
      judgeReason(reason, rejections, own);
    }
    const known = new Set(rejected.map(({ messageId }) => messageId));
    for (const { messageId } of notices) {
      if (!known.has(messageId)) violate(`a notice of message ${messageId}, which was not rejected`);
    }
  }

  /** Checks that a message is moved once, unless its process crashes during the move. A redriven message may be moved again. */
  function judgeDeadLetters(): void {
    const deaths = cloud.trace(({ kind, text }) => kind === 'process' && text.includes(' dies: ')).map(({ at }) => at);
    const redriven = new Set(sentTo(queueOf.first).map(({ origin }) => origin));
    const moved = Map.groupBy(sentTo(deadLetters.queue), ({ origin }) => origin);
    for (const [origin, [first, again]] of moved) {
      if (!first || !again || origin === undefined || redriven.has(origin)) continue;
      const hasDied = deaths.some(at => Math.abs(at - first.at) < maxMove); // its last calls may still arrive
      if (!hasDied) violate(`${origin} is in the dead-letter queue twice`);
    }
  }

  function judgeCopies(): void {
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

  function judgeReason(reason: string, rejections: readonly Refused[], notices: readonly Notice[]): void {
    const noticed = new Set(notices.map(({ messageId }) => messageId));
    const rejected = new Set(rejections.map(({ messageId }) => messageId));
    const isComplete = noticed.size >= Math.min(noticesPerMinute, rejected.size);
    if (!isComplete && !mayDie && metrics.sum('NoticeNotSent') === 0)
      violate(`${reason}: ${noticed.size} notices of ${rejections.length} events, and NoticeNotSent is 0`);
    if (faultClass !== 'calm') return;
    if (!isComplete) violate(`${reason}: ${noticed.size} notices of ${rejections.length} events without faults`);
    if (noticed.size < notices.length) violate(`${reason}: two notices of one event without faults`);
    for (const minuteIndex of new Set(rejections.map(minuteOf))) {
      if (rejections.some(one => isNearBoundary(one, minuteIndex))) continue;
      const ofMinute = new Set(
        rejections.filter(one => minuteOf(one) === minuteIndex).map(({ messageId }) => messageId),
      );
      const noticedInMinute = ofMinute.intersection(noticed).size;
      const due = Math.min(noticesPerMinute, ofMinute.size);
      if (noticedInMinute < due)
        violate(`${reason}: ${noticedInMinute} notices of ${ofMinute.size} events in a minute`);
    }
  }

  /** Returns the rejections in the log. A message that arrives twice is rejected twice. */
  function readRefused(): readonly Refused[] {
    return cloud.logs({ text: refusedLine }).map(({ text }) => {
      const {
        messageId,
        reason = 'id_reused',
        timestamp,
      }: Omit<Refused, 'reason'> & Partial<Refused> = JSON.parse(text);
      return { messageId, reason, timestamp };
    });
  }

  function readNotices(): readonly Notice[] {
    const published = cloud.published.filter(({ topicArn }) => topicArn === refusedTopic);
    return published.map(({ message: { Message = '' } }): Notice => JSON.parse(Message));
  }
}

interface Refused {
  readonly messageId: string;
  readonly reason: string;
  readonly timestamp: string;
}

interface Notice {
  readonly reason: string;
  readonly messageId: string;
}

/** The maximum time from sending a message to the dead-letter queue to its deletion from the lane's queue. */
const maxMove = second;

const copyLine = /"message":"event\.(?:duplicate|conflicting_copy)"/;
const refusedLine = /"message":"event\.(?:rejected|conflicting_copy)"/;

/** Returns whether an event was rejected shortly before a minute's end, so that its notice may count for the next minute. */
function isNearBoundary({ timestamp }: Refused, minuteIndex: number): boolean {
  const moment = Date.parse(timestamp);
  return [minuteIndex, minuteIndex + 1].some(end => moment < end * minute && moment > end * minute - maxMove);
}

function minuteOf({ timestamp }: Refused): number {
  return Math.floor(Date.parse(timestamp) / minute);
}
