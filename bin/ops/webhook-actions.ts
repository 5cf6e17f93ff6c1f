import type { Hold } from '../../lambdas/webhooks/operator-store.ts';
import { wireStatuses } from '../../lambdas/webhooks/representation.ts';
import type { EventName, Webhook } from '../../lambdas/webhooks/webhook.ts';
import { CliError } from './cli-error.ts';
import { openWebhooks, readSlowSince } from './stores.ts';
import type { Target } from './target.ts';

/** The account and the event of a webhook: an account has at most one for each event. */
export interface Registration {
  readonly account: string;
  readonly event: EventName;
}

/** Which webhooks are listed. */
export interface ListOptions {
  readonly account?: string;
  readonly status?: (typeof wireStatuses)[Webhook['status']];
}

/** A webhook, or a suspension that waits for one, and since when its attempts are made in the slow lane. */
export interface FoundWebhook {
  readonly found: Webhook | Hold;
  readonly slowSince: string | null;
}

/** A registration after it was suspended. */
export interface Suspended extends Registration {
  /** Whether there is a webhook; otherwise the next one begins suspended. */
  readonly isRegistered: boolean;
  readonly found: Webhook | Hold | undefined;
}

/** A registration after its suspension was ended, with the webhook where there is one. */
export interface Reactivated extends Registration {
  readonly webhook: Webhook | undefined;
}

export async function listWebhooks(target: Target, { account, status }: ListOptions): Promise<readonly FoundWebhook[]> {
  const wanted = (await openWebhooks(target).listAll())
    .filter(found => account === undefined || found.accountId === account)
    .filter(found => status === undefined || wireStatusOf(found) === status);
  const slowSince = await readSlowSince(target, wanted);
  return wanted.map((found, at) => ({ found, slowSince: slowSince[at] ?? null }));
}

/** @throws {CliError} where there is neither a webhook nor a suspension. */
export async function showWebhook(target: Target, registration: Registration): Promise<FoundWebhook> {
  const found = await openWebhooks(target).find(registration.account, registration.event);
  if (!found) throw noWebhook(registration);
  const [slowSince = null] = await readSlowSince(target, [found]);
  return { found, slowSince };
}

/** Suspends a webhook, or the next one that is registered. */
export async function suspendWebhook(target: Target, { account, event }: Registration): Promise<Suspended> {
  const store = openWebhooks(target);
  const { outcome } = await store.suspend(account, event);
  return { account, event, isRegistered: outcome === 'changed', found: await store.find(account, event) };
}

/** @throws {CliError} where there is neither a webhook nor a suspension. */
export async function reactivateWebhook(target: Target, registration: Registration): Promise<Reactivated> {
  const changed = await openWebhooks(target).reactivate(registration.account, registration.event);
  if (!changed) throw noWebhook(registration);
  return { ...registration, webhook: changed.outcome === 'not_registered' ? undefined : changed.webhook };
}

/** A suspension without a webhook counts as a suspended webhook. */
function wireStatusOf(found: Webhook | Hold) {
  return 'webhookId' in found ? wireStatuses[found.status] : 'suspenso';
}

function noWebhook({ account, event }: Registration) {
  return new CliError(`account "${account}" has no webhook for ${event}: "webhooks list" shows them.`);
}
