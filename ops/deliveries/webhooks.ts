import { wireReasons, wireStatuses } from '../../lambdas/webhooks/representation.ts';
import type { EventName, Webhook } from '../../lambdas/webhooks/webhook.ts';
import { CliError } from '../stage/operator.ts';
import type { PendingSuspension } from '../stores/operator-store.ts';

/** The account and the event of a webhook. An account has at most one webhook for each event. */
export interface Registration {
  readonly account: string;
  readonly event: EventName;
}

/** A webhook without its secrets, or a suspension without a webhook. */
export type WebhookView = ReturnType<typeof viewWebhook>;

/**
 * Returns a webhook with only the host of its URL and no secrets. For a suspension alone, webhook properties are empty.
 * @param slowSince - the time at which the attempts moved to the slow lane, if they did.
 */
export function viewWebhook(found: Webhook | PendingSuspension, slowSince?: number) {
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
    hasAuthorization: found.encryptedAuthorization !== undefined,
    secrets: found.secrets.map(({ createdAt, replacedAt }) => ({ createdAt, replacedAt })),
  };
}

export function noWebhook({ account, event }: Registration) {
  return new CliError(`Account "${account}" has no webhook for ${event}. "webhooks list" lists all webhooks.`);
}
