import type { Hold } from '../../lambdas/webhooks/operator-store.ts';
import { wireReasons, wireStatuses } from '../../lambdas/webhooks/representation.ts';
import type { EventName, Webhook } from '../../lambdas/webhooks/webhook.ts';
import { reads, writes } from '../audit/audit.ts';
import { CliError, type ShowProgress } from '../stage/operator.ts';
import { openUsers, openWebhooks, readSlowSince } from '../stage/stores.ts';
import type { Target, Task } from '../stage/target.ts';

/** The operators' actions on webhooks. */
export const actions = {
  listWebhooks: reads(listWebhooks),
  showWebhook: reads(showWebhook),
  suspendWebhook: writes('webhooks suspend', suspendWebhook, { before: (_task, registration) => registration }),
  reactivateWebhook: writes('webhooks reactivate', reactivateWebhook, {
    before: (_task, registration) => registration,
  }),
};

/** The account and the event of a webhook: an account has at most one for each event. */
export interface Registration {
  readonly account: string;
  readonly event: EventName;
}

/** The choice of webhooks to list. */
export interface ListOptions {
  readonly account?: string;
  readonly status?: (typeof wireStatuses)[Webhook['status']];
  /** Those that fail, are slow or are suspended; of several of these, those that are any. */
  readonly failing?: boolean;
  readonly slow?: boolean;
  readonly suspended?: boolean;
}

/** A webhook without what is secret, or a suspension that waits for one. */
export type WebhookView = ReturnType<typeof viewWebhook>;

/** A registration after it was suspended. */
export interface Suspended extends Registration {
  /** True when there is a webhook; otherwise the next one begins suspended. */
  readonly isRegistered: boolean;
  readonly webhook: WebhookView | undefined;
}

/** A registration after its suspension was ended, with the webhook where there is one. */
export interface Reactivated extends Registration {
  readonly webhook: WebhookView | undefined;
}

/** Lists an account's webhooks by a query, and those of all accounts by reading the whole table. */
async function listWebhooks({ target, progress }: Task, options: ListOptions): Promise<readonly WebhookView[]> {
  const { account, status, failing = false, slow = false, suspended = false } = options;
  const store = openWebhooks(target);
  const found = await (account === undefined
    ? store.listAll(read => progress(`Read ${read} webhooks so far`))
    : store.listOf(account));
  const slowSince = await readSlowSince(target, found);
  const isTroubled = (webhook: WebhookView) =>
    (failing && webhook.failingSince !== undefined) ||
    (slow && webhook.slowSince !== undefined) ||
    (suspended && webhook.status === wireStatuses.suspended);
  return found
    .map((webhook, at) => viewWebhook(webhook, slowSince[at]))
    .filter(webhook => status === undefined || webhook.status === status)
    .filter(webhook => !(failing || slow || suspended) || isTroubled(webhook));
}

/** @throws {CliError} where there is neither a webhook nor a suspension. */
async function showWebhook({ target }: Task, registration: Registration): Promise<WebhookView> {
  const found = await openWebhooks(target).find(registration.account, registration.event);
  if (!found) throw noWebhook(registration);
  const [slowSince] = await readSlowSince(target, [found]);
  return viewWebhook(found, slowSince);
}

/**
 * Suspends a webhook, or the next one that is registered.
 *
 * @throws {CliError} where the account has neither a webhook nor a user: its id is mistyped.
 */
async function suspendWebhook({ target, progress }: Task, { account, event }: Registration): Promise<Suspended> {
  const store = openWebhooks(target);
  const hasWebhook = (await store.listOf(account)).some(found => 'webhookId' in found);
  if (!hasWebhook && !(await hasUser(target, account, progress))) {
    throw new CliError(
      `account "${account}" has neither users nor webhooks: "users list" and "webhooks list" show the accounts that have.`,
    );
  }
  const { outcome } = await store.suspend(account, event);
  const found = await store.find(account, event);
  return { account, event, isRegistered: outcome === 'changed', webhook: found && viewWebhook(found) };
}

/** Finds out whether an account has a user: where it has none, by reading all users. */
async function hasUser(target: Target, account: string, progress: ShowProgress): Promise<boolean> {
  const onPage = (read: number) => progress(`Read ${read} users so far`);
  return (await openUsers(target).listUsers({ account, limit: 1, onPage })).length > 0;
}

/** @throws {CliError} where there is neither a webhook nor a suspension. */
async function reactivateWebhook({ target }: Task, registration: Registration): Promise<Reactivated> {
  const changed = await openWebhooks(target).reactivate(registration.account, registration.event);
  if (!changed) throw noWebhook(registration);
  const webhook = changed.outcome === 'not_registered' ? undefined : viewWebhook(changed.webhook);
  return { ...registration, webhook };
}

/**
 * A suspension without a webhook is shown as a suspended webhook that has nothing else. Of a URL only the host is.
 *
 * @param slowSince - since when its attempts are made in the slow lane, where they are.
 */
function viewWebhook(found: Webhook | Hold, slowSince?: number) {
  const { accountId, eventName } = found;
  if (!('webhookId' in found)) {
    return {
      accountId,
      eventName,
      slowSince,
      webhookId: null,
      host: null,
      status: wireStatuses.suspended,
      suspensionReason: wireReasons.operator,
      failingSince: undefined,
      createdAt: undefined,
      updatedAt: found.since,
      hasAuthorization: false,
      secrets: [],
    };
  }
  const { webhookId, url, failingSince, createdAt, updatedAt } = found;
  return {
    accountId,
    eventName,
    slowSince,
    webhookId,
    host: URL.parse(url)?.host ?? null,
    status: wireStatuses[found.status],
    suspensionReason: found.suspensionReason && wireReasons[found.suspensionReason],
    failingSince,
    createdAt,
    updatedAt,
    hasAuthorization: found.sealedAuthorization !== undefined,
    secrets: found.secrets.map(({ createdAt, replacedAt }) => ({ createdAt, replacedAt })),
  };
}

function noWebhook({ account, event }: Registration) {
  return new CliError(`account "${account}" has no webhook for ${event}: "webhooks list" shows them.`);
}
