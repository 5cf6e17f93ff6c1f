import { isoTime } from '../../../lambdas/platform/clock.ts';
import {
  listWebhooks as listOf,
  reactivateWebhook,
  suspendWebhook,
  testWebhook,
} from '../../deliveries/webhooks.command.ts';
import type { WebhookView as OperatorsView } from '../../deliveries/webhooks.ts';
import type { Task } from '../../stage/target.ts';
import type { WebhookView } from '../views.ts';
import { registrationOf } from './event-name.ts';

/** Makes the part of an operator's source that shows webhooks and changes them. */
export function operatorWebhooks(task: Task) {
  return { listWebhooks, findWebhook, reactivate, suspend, test };

  async function listWebhooks(account: string) {
    return (await listOf.act(task, { account })).map(webhookView);
  }

  async function findWebhook(account: string, event: string) {
    return (await listWebhooks(account)).find(webhook => webhook.event === event);
  }

  async function reactivate(account: string, event: string) {
    await reactivateWebhook.act(task, registrationOf({ account, event }));
  }

  async function suspend(account: string, event: string) {
    await suspendWebhook.act(task, registrationOf({ account, event }));
  }

  async function test(account: string, event: string) {
    return testWebhook.act(task, registrationOf({ account, event }));
  }
}

/** The part of an operator's source that shows webhooks and changes them. */
export type OperatorWebhooks = ReturnType<typeof operatorWebhooks>;

function webhookView(view: OperatorsView): WebhookView {
  return {
    account: view.accountId,
    event: view.eventName,
    address: view.host,
    status: view.status,
    reason: view.suspensionReason ?? null,
    failingSince: timeOrNull(view.failingSince),
    slowSince: timeOrNull(view.slowSince),
    createdAt: timeOrNull(view.createdAt),
    updatedAt: timeOrNull(view.updatedAt),
    hasAuthorization: view.hasAuthorization,
    webhookId: view.webhookId,
  };
}

function timeOrNull(moment: number | undefined): string | null {
  return moment === undefined ? null : isoTime(moment);
}
