import type { Delivery, DeliveryState } from '../../lambdas/delivery/delivery.ts';
import { newDelivery, testIdOf } from '../../lambdas/delivery/delivery.ts';
import { sampleBody } from '../../lambdas/delivery/intake/event.ts';
import { asShown, wireStates } from '../../lambdas/delivery/representation.ts';
import { dueNow } from '../../lambdas/delivery/transitions.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import type { EventName, Webhook } from '../../lambdas/webhooks/webhook.ts';
import { type AuditedTask, audited } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import { openRetryQueue } from '../stage/queues.ts';
import { openDeliveries, openReplays } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { type ReplayRequest, startReplay } from './replay.ts';
import { noWebhook, type Registration } from './webhooks.ts';

/** The choice of a page. Times in milliseconds since the epoch. */
interface PageQuery {
  readonly account: string;
  readonly event: EventName;
  readonly state?: DeliveryState | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** The registration that there is, where it was read before. */
  readonly registration?: Registered | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

type Registered = Pick<Webhook, 'webhookId' | 'createdAt'>;

/** Reads a page of a webhook's deliveries, the newest first, as they are shown under its registration. */
export async function readPage(target: Target, query: PageQuery) {
  const { account, event, state, since, until, after, limit } = query;
  const { history, findWebhook } = openDeliveries(target);
  const registration = query.registration ?? (await findWebhook(account, event)) ?? null;
  return history({
    accountId: account,
    eventName: event,
    state,
    from: since,
    before: until,
    registration,
    after,
    limit,
  });
}

/** Finds a delivery, with the receiver's answers, as it is shown under the registration that there is. */
export async function findDelivery(target: Target, id: string): Promise<Delivery | undefined> {
  const { read, readAnswers, findWebhook } = openDeliveries(target);
  const [delivery] = await read([id]);
  if (!delivery) return undefined;
  const webhook = await findWebhook(delivery.accountId, delivery.eventName);
  return asShown(webhook?.webhookId)(await readAnswers(delivery));
}

/** Begins a replay, which the service goes on with. Returns its id. @throws {CliError} where it cannot begin. */
export const beginReplay = audited('deliveries replay', {
  effect: 'writes',
  act: async ({ target, nameDone }, request: ReplayRequest) => {
    const { id } = await startReplay(request, openReplays(target, openRetryQueue(target)));
    nameDone({ replay: id });
    return id;
  },
  subject: (_task, { account, event }) => ({ account, event }),
  change: ({ wanted, from, to }) => ({ state: wireStates[wanted], since: isoTime(from), until: isoTime(to) }),
});

/** Cancels the replay of a webhook that is under way. @throws {CliError} where it is not, any more. */
export const cancelReplay = audited('deliveries replay', {
  effect: 'writes',
  act: async ({ target }, { account, event, replay }: Registration & { readonly replay: string }) => {
    const { findLatest, cancel } = openReplays(target, openRetryQueue(target));
    const latest = await findLatest(account, event);
    if (latest?.id !== replay || !(await cancel(latest)))
      throw new CliError('the replay has ended: nothing was cancelled.');
  },
  subject: (_task, { account, event, replay }) => ({ account, event, replay }),
  change: () => ({ cancel: true }),
});

/** Sends one attempt of a sample event, as the account's own test does. Returns its id. @throws {CliError} where there is no webhook. */
export async function sendTest({ target, nameDone }: AuditedTask, registration: Registration): Promise<string> {
  const { account: accountId, event: eventName } = registration;
  const { create, findWebhook } = openDeliveries(target);
  const webhook = await findWebhook(accountId, eventName);
  if (!webhook) throw noWebhook(registration);
  if (webhook.suspensionReason === 'operator') {
    throw new CliError('an operator suspended the webhook: nothing is sent until it is reactivated.');
  }
  const now = target.clock.now();
  const body = sampleBody(eventName, requireOutput(target, 'DemandsUrl'));
  const { webhookId } = webhook;
  const id = testIdOf(target.makeId(22));
  const delivery = dueNow(newDelivery({ accountId, eventName, webhookId, body, createdAt: now, id }), now);
  await create(delivery);
  nameDone({ delivery: id });
  await openRetryQueue(target).send(delivery);
  return id;
}
