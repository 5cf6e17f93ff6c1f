import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { makeResend, type ResendError, resendError } from '../../lambdas/delivery/api/resend.ts';
import type { Delivery, DeliveryState } from '../../lambdas/delivery/delivery.ts';
import type { ReadHistory } from '../../lambdas/delivery/store/delivery-history.ts';
import { contentsOfStateShard, type UndeliveredState } from '../../lambdas/delivery/store/delivery-item.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { EVENT_NAMES, type EventName } from '../../lambdas/webhooks/webhook.ts';
import { CliError, type ShowProgress } from '../stage/operator.ts';
import { openRetryQueue } from '../stage/queues.ts';
import { openDeliveries } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/** Selects deliveries of an account. */
interface ListQuery extends AcceptedSpan {
  readonly account: string;
  /** Limits the list to deliveries of this event. */
  readonly event?: EventName | undefined;
  readonly state?: DeliveryState | undefined;
  readonly limit: number;
}

/** The time range in which events were accepted, from `since` to before `until`. Milliseconds since the epoch. */
interface AcceptedSpan {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Selects undelivered deliveries to count. By default, all are counted. */
interface UndeliveredQuery extends AcceptedSpan {
  readonly account?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: UndeliveredState | undefined;
  /** The maximum number of counts. */
  readonly limit: number;
}

/** The number of a webhook's deliveries in one state. */
export interface UndeliveredCount {
  readonly accountId: string;
  readonly eventName: EventName;
  readonly state: UndeliveredState;
  readonly count: number;
  /** The time at which their newest event was accepted. */
  readonly newestAcceptedAt: string;
}

/** Reads the newest deliveries of an account, page by page for each requested webhook. */
export async function readDeliveries(
  history: ReadHistory,
  { account, event, limit, ...choice }: ListQuery,
  progress: ShowProgress,
  isMatch: (delivery: Delivery) => boolean = () => true,
): Promise<readonly Delivery[]> {
  const pageSize = event === undefined ? maxPageSize / 4 : maxPageSize; // few of the eight webhooks need a full page
  const pages = (event === undefined ? EVENT_NAMES : [event]).map(eventName =>
    newestFirst(history, { accountId: account, eventName, limit: Math.min(limit, pageSize), ...choice }),
  );
  const next = await Promise.all(pages.map(page => page.next()));
  const matches: Delivery[] = [];
  while (matches.length < limit) {
    const newest = latestOf(next);
    const delivery = next[newest]?.value;
    if (!delivery) break;
    if (isMatch(delivery)) matches.push(delivery);
    if (matches.length % maxPageSize === 0) {
      progress(`Found ${matches.length} deliveries so far, back to ${isoTime(delivery.createdAt)}`);
    }
    const following = await pages[newest]?.next();
    if (following) next[newest] = following;
  }
  return matches;
}

/** Counts undelivered deliveries by webhook and state, largest counts first. */
export async function countUndelivered(
  target: Target,
  { account, event, state, limit, ...span }: UndeliveredQuery,
  progress: ShowProgress,
): Promise<readonly UndeliveredCount[]> {
  const { counts } = await countIndex(target, span, read => progress(`Read ${read} deliveries so far`));
  return counts
    .filter(count => account === undefined || count.accountId === account)
    .filter(count => event === undefined || count.eventName === event)
    .filter(count => state === undefined || count.state === state)
    .slice(0, limit);
}

/**
 * Counts undelivered deliveries of all accounts. Scans the `undelivered` index of the `Deliveries` table, with about
 * 5,000 entries a page. Expired deliveries are counted until DynamoDB removes them.
 */
export async function countIndex(
  target: Target,
  { since, until }: AcceptedSpan,
  onPage: (read: number) => void,
  maxPages = Number.POSITIVE_INFINITY,
) {
  const [from, before] = [since === undefined ? '' : isoTime(since), until === undefined ? '~' : isoTime(until)];
  const counts = new Map<string, UndeliveredCount>();
  let [read, pages, isCutOff] = [0, 0, false];
  const request = {
    TableName: requireOutput(target, 'DeliveriesTable'),
    IndexName: 'undelivered',
    ProjectionExpression: 'stateShard, listKey',
  };
  for await (const { Items = [], LastEvaluatedKey } of paginateScan({ client: target.documents() }, request)) {
    for (const { stateShard, listKey } of Items) {
      const owner = contentsOfStateShard(stateShard);
      const [acceptedAt = ''] = String(listKey).split('#');
      if (acceptedAt < from || acceptedAt >= before) continue;
      const name = [owner.accountId, owner.eventName, owner.state].join('#');
      const { count = 0, newestAcceptedAt = '' } = counts.get(name) ?? {};
      const newest = newestAcceptedAt > acceptedAt ? newestAcceptedAt : acceptedAt;
      counts.set(name, { ...owner, count: count + 1, newestAcceptedAt: newest });
    }
    read += Items.length;
    onPage(read);
    pages += 1;
    isCutOff = LastEvaluatedKey !== undefined;
    if (pages === maxPages) break;
  }
  const byName = [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, count]) => count);
  const largestFirst = byName.toSorted((one, other) => other.count - one.count);
  return { counts: largestFirst, read, isCutOff };
}

/** Returns a delivery, without the receiver's responses. @throws {CliError} if it does not exist. */
export async function requireDelivery(target: Target, id: string): Promise<Delivery> {
  const [delivery] = await openDeliveries(target).read([id]);
  if (delivery) return delivery;
  throw new CliError(
    `There is no delivery "${id}". Its event had no webhook or is not processed yet, or its record has expired. Run "events find" for details.`,
  );
}

/**
 * Resends a delivery. Returns its previous state, whether it was resent, and whether the retry queue accepted it. If the
 * queue did not accept it, the sweeper sends it.
 * @throws {CliError} if the delivery cannot be resent.
 */
export async function resend(target: Target, id: string) {
  const { read, update, findWebhook } = openDeliveries(target);
  const delivery = await requireDelivery(target, id);
  const webhook = await findWebhook(delivery.accountId, delivery.eventName);
  if (!webhook) throw new CliError(`Could not resend delivery "${id}" (its webhook was deleted).`);
  const rejection = resendError(delivery, webhook);
  if (rejection) throw new CliError(`Could not resend delivery "${id}" ${resendErrors[rejection]}`);
  let isQueued = true;
  const markUnqueued = () => {
    isQueued = false; // `makeResend` logs only this failure
  };
  const send = makeResend({
    store: { read, update },
    retryQueue: openRetryQueue(target),
    now: target.clock.now,
    log: { info: markUnqueued, warn: markUnqueued, error: markUnqueued },
  });
  const isResent = await send(delivery);
  return { state: delivery.state, isResent, isQueued };
}

/** Yields the deliveries of a webhook, newest first. */
async function* newestFirst(
  history: ReadHistory,
  {
    since: from,
    until: before,
    ...query
  }: AcceptedSpan & Omit<Parameters<ReadHistory>[0], 'from' | 'before' | 'after'>,
): AsyncGenerator<Delivery, undefined> {
  let after: string | undefined;
  do {
    const page = await history({ ...query, from, before, after });
    yield* page.deliveries;
    after = page.next;
  } while (after !== undefined);
}

/** Returns the index of the delivery that was accepted last. */
function latestOf(next: readonly IteratorResult<Delivery, undefined>[]): number {
  const acceptedAt = next.map(({ value }) => value?.createdAt ?? Number.NEGATIVE_INFINITY);
  return acceptedAt.indexOf(Math.max(...acceptedAt));
}

/** The page size of the history. */
const maxPageSize = 100;

const resendErrors: Record<ResendError, string> = {
  webhook_suspended: '(its webhook is suspended). Run "webhooks reactivate" first.',
  webhook_replaced: '(its webhook was deleted, and another one is registered now).',
  test_delivery: '(it is a test). Send a new test with "webhooks test".',
};
