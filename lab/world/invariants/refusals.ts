import { noticesPerMinute } from '../../../lambdas/delivery/intake/rejection-notices.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { World } from '../make-world.ts';
import { deadLetters, queueOf, refusedTopic } from '../stage.ts';
import { minute, second } from '../times.ts';
import type { Evidence } from './evidence.ts';
import type { Judgement, Violate } from './violation.ts';

/**
 * Judges the notices of refused events: publishers get at least the first ten of each minute and reason. A copy has a notice if a
 * field differs from the stored event's.
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
      if (origin !== undefined && !isReported) violate(`${origin} became a dead letter, and not all is told of it`);
    }
    const refused = readRefused();
    const notices = readNotices();
    for (const reason of new Set(refused.map(one => one.reason))) {
      const came = refused.filter(one => one.reason === reason);
      const told = notices.filter(one => one.reason === reason);
      judgeReason(reason, came, told);
    }
    const known = new Set(refused.map(({ messageId }) => messageId));
    for (const { messageId } of notices) {
      if (!known.has(messageId)) violate(`told of ${messageId}, which was not refused`);
    }
  }

  /** A refused message is moved once, but where its process dies while it moves it. What is redriven may come again. */
  function judgeDeadLetters(): void {
    const deaths = cloud.trace(({ kind, text }) => kind === 'process' && text.includes(' dies: ')).map(({ at }) => at);
    const redriven = new Set(sentTo(queueOf.first).map(({ origin }) => origin));
    const moved = Map.groupBy(sentTo(deadLetters.queue), ({ origin }) => origin);
    for (const [origin, [first, again]] of moved) {
      if (!first || !again || origin === undefined || redriven.has(origin)) continue;
      const hasDied = deaths.some(at => Math.abs(at - first.at) < maxMove); // its last calls may still arrive
      if (!hasDied) violate(`${origin} stands among the dead letters twice`);
    }
  }

  function judgeCopies(): void {
    for (const { at, text } of cloud.logs({ text: copyLine })) {
      const { message = '', messageId = '', deliveryId = '' }: Partial<Record<string, string>> = JSON.parse(text);
      const changes = evidence().deliveries.get(deliveryId) ?? [];
      const stored = changes.findLast(change => change.at <= at && change.delivery)?.delivery?.body ?? '{}';
      const { link: _, ...fields }: Item = JSON.parse(stored);
      const told: Item = JSON.parse(bodies.get(messageId) ?? '{}');
      const differs = Object.entries(fields).some(([name, value]) => told[name] !== value);
      if (differs !== (message === 'event.conflicting_copy')) violate(`a copy was taken for ${message}`, deliveryId);
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

  function judgeReason(reason: string, came: readonly Refused[], notices: readonly Notice[]): void {
    const told = new Set(notices.map(({ messageId }) => messageId));
    const refused = new Set(came.map(({ messageId }) => messageId));
    const isComplete = told.size >= Math.min(noticesPerMinute, refused.size);
    if (!isComplete && !mayDie && metrics.sum('NoticeNotSent') === 0)
      violate(`${reason}: told of ${told.size}, ${came.length} came, and nothing says that some are not told`);
    if (faultClass !== 'calm') return;
    if (!isComplete) violate(`${reason}: told of ${told.size} in calm, and ${came.length} came`);
    if (told.size < notices.length) violate(`${reason}: told twice in calm`);
    for (const began of new Set(came.map(minuteOf))) {
      if (came.some(one => isBesideEnd(one, began))) continue;
      const ofMinute = new Set(came.filter(one => minuteOf(one) === began).map(({ messageId }) => messageId));
      const toldOfMinute = ofMinute.intersection(told).size;
      const due = Math.min(noticesPerMinute, ofMinute.size);
      if (toldOfMinute < due) violate(`${reason}: ${toldOfMinute} of ${ofMinute.size} were told in a minute`);
    }
  }

  /** A message that comes twice is refused twice. */
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

/** From the send of a refused message to its deletion. Milliseconds. */
const maxMove = second;

const copyLine = /"message":"event\.(?:duplicate|conflicting_copy)"/;
const refusedLine = /"message":"event\.(?:rejected|conflicting_copy)"/;

/** Returns whether an event was refused so shortly before a minute or its end that its notice may be one of the next minute. */
function isBesideEnd({ timestamp }: Refused, began: number): boolean {
  const moment = Date.parse(timestamp);
  return [began, began + 1].some(end => moment < end * minute && moment > end * minute - maxMove);
}

function minuteOf({ timestamp }: Refused): number {
  return Math.floor(Date.parse(timestamp) / minute);
}
