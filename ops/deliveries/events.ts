import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { asShown } from '../../lambdas/delivery/representation.ts';
import type { FindWebhook } from '../../lambdas/delivery/store/find-webhook.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { type EventLog, type LoggedLine, openEventLog, textOf } from '../stage/cloudwatch.ts';
import type { ShowProgress } from '../stage/operator.ts';
import { type DeadLetter, openQueues, type Queues, queuedHint, readElsewhere } from '../stage/queues.ts';
import { openDeliveries, readSlowSince } from '../stage/stores.ts';
import type { Task } from '../stage/target.ts';
import {
  isUnstored,
  type Judgement,
  judgeDeadLetter,
  judgeDelivery,
  judgeLine,
  judgeMessage,
  judgeOverdue,
} from './event-verdict.ts';

/** The sources of the search. Each is opened only when it is needed. */
export interface EventSources {
  readDelivery(id: string): Promise<Delivery | undefined>;
  readonly findWebhook: FindWebhook;
  /** Reads since when the attempts of the delivery's account and event use the slow lane, if they do. */
  readSlowSince(delivery: Delivery): Promise<number | undefined>;
  openLog(): EventLog;
  openQueues(): Pick<Queues, 'deadLetters' | 'countInFlight' | 'countQueued'>;
  now(): number;
  readonly interruption?: AbortSignal | undefined;
}

/** The id of an event, which is the id of its delivery or of its message. */
export type EventReference = { readonly deliveryId: string } | { readonly messageId: string };

/** The verdict on an event, with the data found about it. */
export interface FoundEvent extends Judgement {
  readonly deliveryId: string | undefined;
  readonly messageId: string | undefined;
  readonly delivery?: Delivery;
  /** The earliest time of the log search, if there was one. Milliseconds since the epoch. */
  readonly logSince?: number;
}

/** Finds an event of the target. See {@link findEvent}. */
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
 * Finds an event and its verdict. Reads its delivery, then the retained logs of the delivery functions, and then the
 * dead-letter queue, until the event is found.
 * @param since - the earliest time to search the log, in milliseconds since the epoch.
 */
export async function findEvent(
  reference: EventReference,
  { readDelivery, findWebhook, readSlowSince, openLog, openQueues, now, interruption }: EventSources,
  progress: ShowProgress,
  since = 0,
): Promise<FoundEvent> {
  const judged = async (delivery: Delivery): Promise<FoundEvent> => {
    const webhook = await findWebhook(delivery.accountId, delivery.eventName);
    const slowSince = await readSlowSince(delivery);
    const { id: deliveryId, messageId } = delivery;
    const shown = asShown(webhook?.webhookId)(delivery);
    return { ...judgeDelivery(delivery, webhook, slowSince), deliveryId, messageId, delivery: shown };
  };
  const given = { deliveryId: undefined, messageId: undefined, ...reference };
  if (given.deliveryId !== undefined) {
    const delivery = await readDelivery(given.deliveryId);
    if (delivery) return judged(delivery);
  }

  const id = 'deliveryId' in reference ? reference.deliveryId : reference.messageId;
  const log = openLog();
  const logSince = Math.max(await log.keptSince(), since);
  progress(`Searching the log since ${isoTime(logSince)}`);
  const lines = await log.find(id, logSince, progress);
  const said = (name: string) => textOf(lines.find(({ fields }) => textOf(fields[name]) !== undefined)?.fields[name]);
  const ids = { deliveryId: given.deliveryId ?? said('deliveryId'), messageId: given.messageId ?? said('messageId') };
  if (given.messageId !== undefined) {
    const own = judgeMessage(lines, given.messageId);
    if (own) return { ...own, ...ids, logSince };
    const delivery = ids.deliveryId === undefined ? undefined : await readDelivery(ids.deliveryId);
    if (delivery && isOfMessage(delivery, given.messageId, lines)) return { ...(await judged(delivery)), logSince };
  }
  const newest = judgeNewest(lines);
  if (newest && newest.judgement.verdict !== 'pending') return { ...newest.judgement, ...ids, logSince };

  progress('Reading the dead-letter queue');
  const queues = openQueues();
  const before = await queues.countInFlight();
  // SQS moves a message after its last receive without a log line. A rejected message has a log line.
  const isWanted = (found: DeadLetter) => isOf(found, id) && (!newest || found.reason === null);
  const { deadLetter, looked } = await findDeadLetter(queues, isWanted, interruption);
  if (deadLetter) {
    const { messageId } = deadLetter.origin;
    return {
      ...judgeDeadLetter(deadLetter),
      deliveryId: ids.deliveryId ?? deliveryIdIn(deadLetter),
      messageId,
      logSince,
    };
  }
  const inFlight = Math.max(before, await queues.countInFlight());
  const seen = seenDeadLetters(inFlight, looked);
  if (!newest) return { ...unknown(logSince, seen, await queues.countQueued()), ...ids, logSince };
  const hint = `and ${seen} is about it: it may still be in its queue ("status"), have been discarded or redriven, or be in flight in another command`;
  return {
    ...judgeOverdue(newest.judgement, newest.line, { now: now(), hint }),
    ...ids,
    logSince,
  };
}

/** Returns whether a delivery belongs to a message or to the message of which it was a copy. */
function isOfMessage(delivery: Delivery, messageId: string, lines: readonly LoggedLine[]): boolean {
  const isCopy = lines.some(({ fields }) => fields.message === 'event.duplicate' && fields.messageId === messageId);
  return delivery.messageId === messageId || isCopy;
}

/** Returns the newest line that shows the event's fate, and the verdict. */
function judgeNewest(lines: readonly LoggedLine[]) {
  const unstored = lines.filter(isUnstored);
  for (const line of lines) {
    const judgement = judgeLine(line, unstored);
    if (judgement) return { judgement, line };
  }
  return undefined;
}

async function findDeadLetter(
  queues: Pick<Queues, 'deadLetters'>,
  isWanted: (deadLetter: DeadLetter) => boolean,
  interruption: AbortSignal | undefined,
): Promise<FoundDeadLetter> {
  let looked = 0;
  for await (const deadLetter of queues.deadLetters(maxDeadLetters, { interruption })) {
    looked += 1;
    if (isWanted(deadLetter)) return { deadLetter, looked };
  }
  return { looked };
}

interface FoundDeadLetter {
  readonly deadLetter?: DeadLetter;
  /** The number of dead-letter messages read. */
  readonly looked: number;
}

/** Returns the part of the sentence about the dead-letter messages that were read. */
function seenDeadLetters(inFlight: number, looked: number): string {
  const seen =
    looked < maxDeadLetters
      ? 'no dead-letter message'
      : `no dead-letter message among the first ${maxDeadLetters} ("dlq list --limit 10000" reads more)`;
  return inFlight === 0 ? seen : `${seen} that is visible (${readElsewhere(inFlight)})`;
}

function unknown(since: number, seen: string, queued: number | undefined): Judgement {
  return {
    verdict: 'unknown',
    why: `no delivery, ${seen}, and no line of the log since ${isoTime(since)}: it was published before then, with other ids, to another stage, or less than about a minute ago${queuedHint(queued, 'it')}`,
  };
}

/** Returns the delivery id, if the body names the event. */
function deliveryIdIn({ origin, body }: DeadLetter): string | undefined {
  const parsed = parseEventMessage(body, origin.messageId, 'https://unused.example.com');
  return parsed.outcome === 'event' ? parsed.event.deliveryId : parsed.deliveryId;
}

/** The maximum number of dead-letter messages read. */
const maxDeadLetters = 1_000;

function isOf(deadLetter: DeadLetter, id: string): boolean {
  return deadLetter.origin.messageId === id || deliveryIdIn(deadLetter) === id;
}
