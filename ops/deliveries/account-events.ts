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
  endsOwnMessage,
  isUnstored,
  type Verdict,
  verdictFromDelivery,
  verdictFromLine,
  verdictFromMessage,
  withOverdueHint,
} from './event-verdict.ts';

/** Selects events of an account. */
interface EventsQuery {
  readonly account: string;
  /** Selects events that were accepted at or after this time. Milliseconds since the epoch. */
  readonly since: number;
  readonly limit: number;
}

/** A published event of an account, with its verdict. Ids are missing if no source contains them. */
export interface AccountEvent extends Verdict {
  /** The time at which the event was accepted, or the time of its log line. Milliseconds since the epoch. */
  readonly at: number;
  readonly eventName: string | undefined;
  readonly deliveryId: string | undefined;
  readonly messageId: string | undefined;
}

/** The events of an account, newest first. */
export interface AccountEvents extends EventsQuery {
  readonly events: readonly AccountEvent[];
  /** True if there are more than `limit` events. */
  readonly isCutOff: boolean;
  /** The start of the log search for events without a delivery. Milliseconds since the epoch. */
  readonly logSince: number;
  /** The approximate number of messages in the events queue, if no event was found. */
  readonly queued: number | undefined;
}

export interface AccountSources {
  /** Returns the newest deliveries of events that were accepted since a time. */
  listDeliveries(account: string, since: number, limit: number): Promise<readonly Delivery[]>;
  readDeliveries(ids: readonly string[]): Promise<readonly Delivery[]>;
  /** Returns the registered webhooks, with the start of any slowness. */
  listWebhooks(account: string): Promise<readonly WebhookWithSlowness[]>;
  retainedSince(): Promise<number>;
  /** Returns the newest lines since a time for an account and any of the messages. */
  findLines(account: string, messages: readonly string[], since: number): Promise<readonly LoggedLine[]>;
  countQueued(): Promise<number | undefined>;
  now(): number;
}

/** A webhook, with the time at which it moved to the slow lane. */
interface WebhookWithSlowness {
  readonly webhook: Webhook;
  readonly slowSince: number | undefined;
}

/** Lists the events of an account, by default from the last 24 hours. See {@link readEvents}. */
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
        const registered = (await openWebhooks(target).listOf(account)).filter(webhook => 'webhookId' in webhook);
        const slowSince = await readSlowSince(target, registered);
        return registered.map((webhook, at) => ({ webhook, slowSince: slowSince[at] }));
      },
      retainedSince: log.retainedSince,
      findLines: (account, message, since) => log.filter({ account: [account], message }, since, maxLines, progress),
      countQueued: openQueues(target).countQueued,
      now: target.clock.now,
    },
    progress,
  );
}

/**
 * Lists an account's events. Reads deliveries from the table, and events without a delivery from the retained logs of
 * the delivery functions.
 */
export async function readEvents(
  query: EventsQuery,
  sources: AccountSources,
  progress: ShowProgress,
): Promise<AccountEvents> {
  const { account, since, limit } = query;
  const [retainedSince, webhooks, listedDeliveries] = await Promise.all([
    sources.retainedSince(),
    sources.listWebhooks(account),
    sources.listDeliveries(account, since, limit + 1),
  ]);
  const logSince = Math.max(retainedSince, since);
  progress(`Searching the log since ${isoTime(logSince)}`);
  const lines = await sources.findLines(account, messagesWithoutDelivery, logSince);
  const listedIds = new Set(listedDeliveries.map(({ id }) => id));
  const unlistedIds = [...new Set(lines.flatMap(({ fields }) => idOf(fields) ?? []))].filter(id => !listedIds.has(id));
  const unlistedDeliveries: Delivery[] = [];
  for await (const ids of inBatches(unlistedIds, 100)) unlistedDeliveries.push(...(await sources.readDeliveries(ids)));
  const messageIds = new Map([...listedDeliveries, ...unlistedDeliveries].map(({ id, messageId }) => [id, messageId]));
  const unstoredLines = lines.filter(isUnstored);
  const events = [
    ...listedDeliveries.map(delivery => eventOf(delivery, webhooks)),
    ...newestOfEach(lines).flatMap(line => eventIn(line, messageIds, unstoredLines, sources.now())),
  ].toSorted((one, other) => other.at - one.at);
  // If the search returned the maximum number of lines, it covered only the time since the oldest of them.
  const readSince = lines.length < maxLines ? logSince : Math.min(...lines.map(({ at }) => at));
  const queued = events.length === 0 ? await sources.countQueued() : undefined;
  return { ...query, events: events.slice(0, limit), isCutOff: events.length > limit, logSince: readSince, queued };
}

const day = 86_400_000;

/** The log messages about events without a delivery. */
const messagesWithoutDelivery = [
  'event.without_webhook',
  'event.rejected',
  'event.conflicting_copy',
  'message.deferred',
  'delivery.shed',
  'delivery.outcome_not_stored',
];

/** The maximum number of lines read for one account. */
const maxLines = 10_000;

function idOf({ deliveryId }: LoggedLine['fields']): string | undefined {
  return textOf(deliveryId);
}

function eventOf(delivery: Delivery, webhooks: readonly WebhookWithSlowness[]): AccountEvent {
  const { id: deliveryId, messageId, eventName, createdAt: at } = delivery;
  const registered = webhooks.find(({ webhook }) => webhook.eventName === eventName);
  const verdict = verdictFromDelivery(delivery, registered?.webhook, registered?.slowSince);
  return { ...verdict, at, eventName, deliveryId, messageId };
}

/** Returns the newest line about each message. A deferred message has a line for each deferral. */
function newestOfEach(lines: readonly LoggedLine[]): readonly LoggedLine[] {
  const byMessage = new Map<unknown, LoggedLine>();
  for (const line of lines) {
    const { messageId, deliveryId } = line.fields;
    const key = messageId ?? deliveryId;
    const newest = byMessage.get(key);
    if (!newest || newest.at < line.at) byMessage.set(key, line);
  }
  return [...byMessage.values()];
}

/**
 * Returns the event in a log line, unless the table contains its delivery. A message that was rejected for reusing the
 * id of an earlier event is listed in addition to that event's delivery.
 * @param messageIds - the message ids of stored deliveries, by delivery id.
 */
function eventIn(
  line: LoggedLine,
  messageIds: ReadonlyMap<string, string | undefined>,
  unstoredLines: readonly LoggedLine[],
  now: number,
): readonly AccountEvent[] {
  const { fields, at } = line;
  const deliveryId = idOf(fields);
  const messageId = textOf(fields.messageId);
  const isStored = deliveryId !== undefined && messageIds.has(deliveryId);
  if (isStored && (!endsOwnMessage(line) || messageIds.get(deliveryId) === messageId)) return [];
  const ownVerdict = messageId === undefined ? undefined : verdictFromMessage([line], messageId, unstoredLines);
  const verdict = ownVerdict ?? verdictFromLine(line, unstoredLines);
  if (!verdict) return [];
  const hint = `and may be in the dead-letter queue: run "events find ${messageId ?? deliveryId}"`;
  return [
    {
      ...withOverdueHint(verdict, line, { now, hint }),
      at,
      eventName: textOf(fields.event),
      deliveryId,
      messageId,
    },
  ];
}
