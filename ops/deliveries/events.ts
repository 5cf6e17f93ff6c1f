import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { toDisplayed } from '../../lambdas/delivery/representation.ts';
import type { FindWebhook } from '../../lambdas/delivery/store/find-webhook.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { type EventLog, type LoggedLine, openEventLog, textOf } from '../stage/cloudwatch.ts';
import type { ShowProgress } from '../stage/operator.ts';
import { type DeadLetter, inFlightElsewhere, openQueues, type Queues, queuedHint } from '../stage/queues.ts';
import { openDeliveries, readSlowSince } from '../stage/stores.ts';
import type { Task } from '../stage/target.ts';
import {
  isUnstored,
  type Verdict,
  verdictFromDeadLetter,
  verdictFromDelivery,
  verdictFromLine,
  verdictFromMessage,
  withOverdueHint,
} from './event-verdict.ts';

/** The sources of the search. The log and the queues are opened only when they are needed. */
export interface EventSources {
  readDelivery(id: string): Promise<Delivery | undefined>;
  readonly findWebhook: FindWebhook;
  /** Returns the time at which the delivery's account and event moved to the slow lane, if they did. */
  readSlowSince(delivery: Delivery): Promise<number | undefined>;
  openLog(): EventLog;
  openQueues(): Pick<Queues, 'deadLetters' | 'countInFlight' | 'countQueued'>;
  now(): number;
  readonly interruption?: AbortSignal | undefined;
}

/** The id of an event, which is the id of its delivery or of its message. */
export type EventReference = { readonly deliveryId: string } | { readonly messageId: string };

/** The verdict on an event, with the available data about the event. */
export interface FoundEvent extends Verdict {
  readonly deliveryId: string | undefined;
  readonly messageId: string | undefined;
  readonly delivery?: Delivery;
  /** The start of the log search, if the log was searched. Milliseconds since the epoch. */
  readonly logSince?: number;
}

/** Finds an event in the sources of the target. See {@link findEvent}. */
export async function findPublished(
  { target, progress, interruption }: Task,
  reference: EventReference,
  since?: number,
): Promise<FoundEvent> {
  const { read, findWebhook } = openDeliveries(target);
  const sources = {
    readDelivery: async (id: string) => (await read([id]))[0],
    findWebhook,
    readSlowSince: async (delivery: Delivery) => (await readSlowSince(target, [delivery]))[0],
    openLog: () => openEventLog(target, interruption),
    openQueues: () => openQueues(target),
    now: target.clock.now,
    interruption,
  };
  return findEvent(reference, sources, progress, since);
}

/**
 * Finds an event and its verdict. Searches the deliveries, the retained logs of the delivery functions, and the
 * dead-letter queue in this order, until it finds the event.
 * @param since - the start of the log search, in milliseconds since the epoch.
 */
export async function findEvent(
  reference: EventReference,
  { readDelivery, findWebhook, readSlowSince, openLog, openQueues, now, interruption }: EventSources,
  progress: ShowProgress,
  since = 0,
): Promise<FoundEvent> {
  const fromDelivery = async (delivery: Delivery): Promise<FoundEvent> => {
    const webhook = await findWebhook(delivery.accountId, delivery.eventName);
    const slowSince = await readSlowSince(delivery);
    const { id: deliveryId, messageId } = delivery;
    const shownDelivery = toDisplayed(webhook?.webhookId)(delivery);
    return { ...verdictFromDelivery(delivery, webhook, slowSince), deliveryId, messageId, delivery: shownDelivery };
  };
  const requestedIds = { deliveryId: undefined, messageId: undefined, ...reference };
  if (requestedIds.deliveryId !== undefined) {
    const delivery = await readDelivery(requestedIds.deliveryId);
    if (delivery) return fromDelivery(delivery);
  }

  const id = 'deliveryId' in reference ? reference.deliveryId : reference.messageId;
  const log = openLog();
  const logSince = Math.max(await log.retainedSince(), since);
  progress(`Searching the log since ${isoTime(logSince)}`);
  const lines = await log.find(id, logSince, progress);
  const field = (name: string) => textOf(lines.find(({ fields }) => textOf(fields[name]) !== undefined)?.fields[name]);
  const ids = {
    deliveryId: requestedIds.deliveryId ?? field('deliveryId'),
    messageId: requestedIds.messageId ?? field('messageId'),
  };
  if (requestedIds.messageId !== undefined) {
    const ownVerdict = verdictFromMessage(lines, requestedIds.messageId);
    if (ownVerdict) return { ...ownVerdict, ...ids, logSince };
    const delivery = ids.deliveryId === undefined ? undefined : await readDelivery(ids.deliveryId);
    if (delivery && isOfMessage(delivery, requestedIds.messageId, lines))
      return { ...(await fromDelivery(delivery)), logSince };
  }
  const newest = newestVerdict(lines);
  if (newest && newest.result.verdict !== 'pending') return { ...newest.result, ...ids, logSince };

  progress('Reading the dead-letter queue');
  const queues = openQueues();
  const before = await queues.countInFlight();
  // SQS logs nothing when it moves a message after its last receive. A rejected message has a log line.
  const isMatch = (deadLetter: DeadLetter) => isOf(deadLetter, id) && (!newest || deadLetter.reason === null);
  const { deadLetter, readCount } = await findDeadLetter(queues, isMatch, interruption);
  if (deadLetter) {
    const { messageId } = deadLetter.origin;
    return {
      ...verdictFromDeadLetter(deadLetter),
      deliveryId: ids.deliveryId ?? deliveryIdIn(deadLetter),
      messageId,
      logSince,
    };
  }
  const inFlight = Math.max(before, await queues.countInFlight());
  const clause = searchClause(inFlight, readCount);
  if (!newest) return { ...unknown(logSince, clause, await queues.countQueued()), ...ids, logSince };
  const hint = `and ${clause} is about it. Its message may be in its queue ("status"), discarded, redriven, or in flight in another command`;
  return {
    ...withOverdueHint(newest.result, newest.line, { now: now(), hint }),
    ...ids,
    logSince,
  };
}

/** Returns whether a delivery belongs to a message, or to the message that this message is a copy of. */
function isOfMessage(delivery: Delivery, messageId: string, lines: readonly LoggedLine[]): boolean {
  const isCopy = lines.some(({ fields }) => fields.message === 'event.duplicate' && fields.messageId === messageId);
  return delivery.messageId === messageId || isCopy;
}

/** Returns the newest line that contains the event's outcome, and the verdict. */
function newestVerdict(lines: readonly LoggedLine[]) {
  const unstoredLines = lines.filter(isUnstored);
  for (const line of lines) {
    const result = verdictFromLine(line, unstoredLines);
    if (result) return { result, line };
  }
  return undefined;
}

async function findDeadLetter(
  queues: Pick<Queues, 'deadLetters'>,
  isMatch: (deadLetter: DeadLetter) => boolean,
  interruption: AbortSignal | undefined,
): Promise<FoundDeadLetter> {
  let readCount = 0;
  for await (const deadLetter of queues.deadLetters(maxDeadLetters, { interruption })) {
    readCount += 1;
    if (isMatch(deadLetter)) return { deadLetter, readCount };
  }
  return { readCount };
}

interface FoundDeadLetter {
  readonly deadLetter?: DeadLetter;
  /** The number of dead-letter messages read. */
  readonly readCount: number;
}

/** Returns a clause about the dead-letter messages that were read. */
function searchClause(inFlight: number, readCount: number): string {
  const clause =
    readCount < maxDeadLetters
      ? 'no dead-letter message'
      : `no dead-letter message among the first ${maxDeadLetters} ("dlq list --limit 10000" reads more)`;
  return inFlight === 0 ? clause : `${clause} that is visible (${inFlightElsewhere(inFlight)})`;
}

function unknown(since: number, clause: string, queued: number | undefined): Verdict {
  return {
    verdict: 'unknown',
    why: `no delivery, ${clause}, and no log line since ${isoTime(since)}: it was published before that time, with other ids, to another stage, or less than about a minute ago${queuedHint(queued, 'it')}`,
  };
}

/** Returns the delivery id, if the body identifies the event. */
function deliveryIdIn({ origin, body }: DeadLetter): string | undefined {
  const parsed = parseEventMessage(body, origin.messageId, 'https://unused.example.com');
  return parsed.outcome === 'event' ? parsed.event.deliveryId : parsed.deliveryId;
}

/** The maximum number of dead-letter messages read. */
const maxDeadLetters = 1_000;

function isOf(deadLetter: DeadLetter, id: string): boolean {
  return deadLetter.origin.messageId === id || deliveryIdIn(deadLetter) === id;
}
