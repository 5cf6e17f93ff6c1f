import { type Delivery, isTest } from '../../lambdas/delivery/delivery.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import type { Webhook } from '../../lambdas/webhooks/webhook.ts';
import { type LoggedLine, openEventLog, textOf } from '../stage/cloudwatch.ts';
import type { ShowProgress } from '../stage/operator.ts';
import { openQueues } from '../stage/queues.ts';
import { openDeliveries, openWebhooks, readSlowSince } from '../stage/stores.ts';
import type { Task } from '../stage/target.ts';
import { readDeliveries } from './deliveries.ts';
import {
  endsOwn,
  isUnstored,
  type Judgement,
  judgeDelivery,
  judgeLine,
  judgeMessage,
  judgeOverdue,
} from './event-verdict.ts';

/** The choice of the events of an account. */
interface EventsQuery {
  readonly account: string;
  /** Accepted from then on. Milliseconds since the epoch. */
  readonly since: number;
  readonly limit: number;
}

/** One event that came for an account, and what became of it. Its ids are unknown where nothing tells them. */
export interface AccountEvent extends Judgement {
  /** The moment when it was accepted, or what the log tells was written. Milliseconds since the epoch. */
  readonly at: number;
  readonly eventName: string | undefined;
  readonly deliveryId: string | undefined;
  readonly messageId: string | undefined;
}

/** The events of an account, the newest first. */
export interface AccountEvents extends EventsQuery {
  readonly events: readonly AccountEvent[];
  /** True where there are more than `limit`. */
  readonly isCutOff: boolean;
  /** The moment from which the log was searched for events that no table holds. Milliseconds since the epoch. */
  readonly logSince: number;
  /** About how many messages the events queue has, where no event came. */
  readonly queued: number | undefined;
}

export interface AccountSources {
  /** The newest deliveries of events accepted since then. */
  listDeliveries(account: string, since: number, limit: number): Promise<readonly Delivery[]>;
  readDeliveries(ids: readonly string[]): Promise<readonly Delivery[]>;
  /** The registered webhooks, and since when the attempts of an event are slow. */
  listWebhooks(account: string): Promise<readonly WebhookWithSlowness[]>;
  keptSince(): Promise<number>;
  /** The newest lines since then with that account and one of these messages. */
  findLines(account: string, messages: readonly string[], since: number): Promise<readonly LoggedLine[]>;
  countQueued(): Promise<number | undefined>;
  now(): number;
}

/** A webhook, and since when its attempts are made in the slow lane. */
interface WebhookWithSlowness {
  readonly webhook: Webhook;
  readonly slowSince: number | undefined;
}

/** Lists the events of an account of the target, by default those of the last 24 hours. See {@link readEvents}. */
export async function listAccountEvents(
  { target, progress }: Task,
  { since = target.clock.now() - day, ...request }: Omit<EventsQuery, 'since'> & { readonly since?: number },
): Promise<AccountEvents> {
  const { read, history } = openDeliveries(target);
  const log = openEventLog(target);
  return readEvents(
    { ...request, since },
    {
      listDeliveries: (account, since, limit) =>
        readDeliveries(history, { account, since, limit }, progress, delivery => !isTest(delivery)),
      readDeliveries: read,
      listWebhooks: async account => {
        const found = (await openWebhooks(target).listOf(account)).filter(webhook => 'webhookId' in webhook);
        const slowSince = await readSlowSince(target, found);
        return found.map((webhook, at) => ({ webhook, slowSince: slowSince[at] }));
      },
      keptSince: log.keptSince,
      findLines: (account, message, since) => log.filter({ account: [account], message }, since, maxLines, progress),
      countQueued: openQueues(target).countQueued,
      now: target.clock.now,
    },
    progress,
  );
}

/**
 * Lists what came for an account and what became of it: deliveries by the table, and what had none by the logs of the functions
 * that deliver, as far back as those are kept.
 */
export async function readEvents(
  query: EventsQuery,
  sources: AccountSources,
  progress: ShowProgress,
): Promise<AccountEvents> {
  const { account, since, limit } = query;
  const [kept, webhooks, listed] = await Promise.all([
    sources.keptSince(),
    sources.listWebhooks(account),
    sources.listDeliveries(account, since, limit + 1),
  ]);
  const logSince = Math.max(kept, since);
  progress(`Searching the log since ${isoTime(logSince)}`);
  const lines = await sources.findLines(account, tellingMessages, logSince);
  const known = new Map(listed.map(delivery => [delivery.id, delivery]));
  const unlisted = [...new Set(lines.flatMap(({ fields }) => idOf(fields) ?? []))].filter(id => !known.has(id));
  const others: Delivery[] = [];
  for await (const ids of inBatches(unlisted, 100)) others.push(...(await sources.readDeliveries(ids)));
  const stored = new Map([...listed, ...others].map(({ id, messageId }) => [id, messageId]));
  const unstored = lines.filter(isUnstored);
  const found = [
    ...listed.map(delivery => eventOf(delivery, webhooks)),
    ...newestOfEach(lines).flatMap(line => eventIn(line, stored, unstored, sources.now())),
  ].toSorted((one, other) => other.at - one.at);
  // More lines than are read tell no further back than the oldest of them.
  const reached = lines.length < maxLines ? logSince : Math.min(...lines.map(({ at }) => at));
  const queued = found.length === 0 ? await sources.countQueued() : undefined;
  return { ...query, events: found.slice(0, limit), isCutOff: found.length > limit, logSince: reached, queued };
}

const day = 86_400_000;

/** The messages of the log that tell of events which no table holds. */
const tellingMessages = [
  'event.without_webhook',
  'event.rejected',
  'event.conflicting_copy',
  'message.deferred',
  'delivery.shed',
  'delivery.outcome_not_stored',
];

/** The most lines of one account that are read. */
const maxLines = 10_000;

function idOf({ deliveryId }: LoggedLine['fields']): string | undefined {
  return textOf(deliveryId);
}

function eventOf(delivery: Delivery, webhooks: readonly WebhookWithSlowness[]): AccountEvent {
  const { id: deliveryId, messageId, eventName, createdAt: at } = delivery;
  const registered = webhooks.find(({ webhook }) => webhook.eventName === eventName);
  const judgement = judgeDelivery(delivery, registered?.webhook, registered?.slowSince);
  return { ...judgement, at, eventName, deliveryId, messageId };
}

/** Keeps the newest line of each message; a message comes as often as it was deferred. */
function newestOfEach(lines: readonly LoggedLine[]): readonly LoggedLine[] {
  const byMessage = new Map<unknown, LoggedLine>();
  for (const line of lines) {
    const { messageId, deliveryId } = line.fields;
    const key = messageId ?? deliveryId;
    const known = byMessage.get(key);
    if (!known || known.at < line.at) byMessage.set(key, line);
  }
  return [...byMessage.values()];
}

/**
 * Returns the event that a line tells of; nothing where the table does. A message that became no delivery is told of beside the
 * delivery of another one with its id.
 *
 * @param stored - the message ids of deliveries, by the ids of these.
 */
function eventIn(
  line: LoggedLine,
  stored: ReadonlyMap<string, string | undefined>,
  unstored: readonly LoggedLine[],
  now: number,
): readonly AccountEvent[] {
  const { fields, at } = line;
  const deliveryId = idOf(fields);
  const messageId = textOf(fields.messageId);
  const isStored = deliveryId !== undefined && stored.has(deliveryId);
  if (isStored && (!endsOwn(line) || stored.get(deliveryId) === messageId)) return [];
  const own = messageId === undefined ? undefined : judgeMessage([line], messageId, unstored);
  const judgement = own ?? judgeLine(line, unstored);
  if (!judgement) return [];
  const hint = `and may be in the dead-letter queue: run "events find ${messageId ?? deliveryId}"`;
  return [
    {
      ...judgeOverdue(judgement, line, { now, hint }),
      at,
      eventName: textOf(fields.event),
      deliveryId,
      messageId,
    },
  ];
}
