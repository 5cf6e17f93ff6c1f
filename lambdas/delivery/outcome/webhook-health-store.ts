import { batchGet } from '../../platform/aws/batch-get.ts';
import type { StoreParts } from '../../platform/aws/dynamo.ts';
import { attribute, type Expression, expression, type ItemUpdate, updateItem } from '../../platform/aws/update-item.ts';
import { type Announcement, announcementAttributes } from '../../webhooks/announcement.ts';
import { type Webhook, webhookKey } from '../../webhooks/webhook.ts';
import type { AttemptResult } from '../delivery.ts';

export type WebhookHealthStore = ReturnType<typeof makeWebhookHealthStore>;

/**
 * Creates the store of webhook health in the items of table `Webhooks`. A change is stored only if the webhook was not registered again,
 * replaced or reactivated since the attempt read it. Each function returns whether the change was stored.
 */
export function makeWebhookHealthStore({ dynamo, table, now }: StoreParts) {
  return { startedFailing, recovered, announceFailing, suspendGone, suspendFailing };

  /** Stores the first failure after registration, replacement, reactivation or a success. */
  function startedFailing(webhook: Webhook): Promise<boolean> {
    return change(webhook, {
      set: { failingSince: now(), failingMark: undefined },
      when: expression`${isUnchanged(webhook)} AND attribute_not_exists(failingSince)`,
    });
  }

  /**
   * Stores the first success after failures. If the failures were announced, the success is also announced, unless the webhook is suspended.
   * Returns false if another process stored the success or announced the failures first. After such an announcement, the next success is
   * announced.
   */
  function recovered(webhook: Webhook, trigger: Trigger): Promise<boolean> {
    const { failingSince, announcedSince: since } = webhook;
    const isFailingUnchanged = hasValue('failingSince', failingSince);
    const isHealthUnchanged = expression`${isUnchanged(webhook)} AND ${isFailingUnchanged} AND ${hasValue('announcedSince', since)}`;
    return change(webhook, {
      set: { failingSince: undefined, failingMark: undefined, announcedSince: undefined },
      when: since ? expression`${isHealthUnchanged} AND status = ${'active'}` : isHealthUnchanged,
      announcement: since ? { type: 'webhook.recovered', since, reason: null, ...trigger } : undefined,
    });
  }

  /** Announces that the webhook has failed for `mark` milliseconds. Returns false if another process has already announced this. */
  async function announceFailing(webhook: Webhook, mark: number, trigger: Trigger): Promise<boolean> {
    const { failingSince } = webhook;
    if (failingSince === undefined) return false;
    return change(webhook, {
      set: { failingMark: mark, announcedSince: failingSince },
      when: expression`${isUnchanged(webhook)} AND status = ${'active'} AND failingSince = ${failingSince}
        AND (attribute_not_exists(failingMark) OR failingMark < ${mark})`,
      announcement: { type: 'webhook.failing', since: failingSince, reason: null, ...trigger },
    });
  }

  /**
   * Suspends the webhook because its receiver returned 410, and announces the suspension. Returns `suspended_already` if it was already
   * suspended, or `outdated` if it was registered again, replaced or reactivated since the attempt read it.
   */
  async function suspendGone(
    webhook: Webhook,
    trigger: Trigger,
  ): Promise<'suspended' | 'suspended_already' | 'outdated'> {
    const { accountId, eventName, webhookId, resetAt } = webhook;
    const isSuspended = await change(webhook, {
      ...suspension('gone', trigger),
      when: expression`${isUnchanged(webhook)} AND status = ${'active'}`,
    });
    if (isSuspended) return 'suspended';
    const [item] = await batchGet(dynamo, [{ table, key: webhookKey(accountId, eventName) }]);
    const isOutdated = item?.webhookId !== webhookId || item.resetAt !== resetAt;
    return isOutdated ? 'outdated' : 'suspended_already';
  }

  /** Suspends a webhook that has had no success since the attempt read it, and announces the suspension. */
  function suspendFailing(webhook: Webhook, trigger: Trigger): Promise<boolean> {
    return change(webhook, {
      ...suspension('no_success', trigger, { announcedSince: webhook.failingSince }),
      when: expression`${isUnchanged(webhook)} AND status = ${'active'} AND failingSince = ${webhook.failingSince}`,
    });
  }

  function suspension(reason: 'gone' | 'no_success', trigger: Trigger, more: Pick<Webhook, 'announcedSince'> = {}) {
    const moment = now();
    const failingSince = expression`if_not_exists(failingSince, ${moment})`; // a 410 may be the first failure
    return {
      set: { status: 'suspended', suspensionReason: reason, updatedAt: moment, failingSince, ...more },
      announcement: { type: 'webhook.suspended', since: moment, reason, ...trigger } as const,
    };
  }

  async function change(
    { accountId, eventName }: Webhook,
    { set, when, announcement }: HealthChange,
  ): Promise<boolean> {
    const key = webhookKey(accountId, eventName);
    const update = { set: { ...set, ...(announcement && announcementAttributes(announcement, key)) }, when };
    return (await updateItem(dynamo, { table, key }, update)) !== undefined;
  }
}

/** The delivery that caused a change, and the result of its last attempt, if any. */
export interface Trigger {
  readonly lastResult: AttemptResult | null;
  readonly deliveryId: string;
}

type HealthChange = Pick<ItemUpdate, 'set' | 'when'> & { readonly announcement?: Announcement | undefined };

/** Returns the condition that the webhook was not registered again, replaced or reactivated since the attempt read it. */
function isUnchanged({ webhookId, resetAt }: Webhook): Expression {
  return expression`webhookId = ${webhookId} AND ${hasValue('resetAt', resetAt)}`;
}

/** Returns the condition that an attribute is unchanged since it was read. */
function hasValue(name: string, value: number | undefined): Expression {
  return value ? expression`${attribute(name)} = ${value}` : expression`attribute_not_exists(${attribute(name)})`;
}
