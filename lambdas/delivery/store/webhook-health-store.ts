import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Announcement, updateWebhook } from '../../webhooks/announcement.ts';
import { type Webhook, webhookIn, webhookKey } from '../../webhooks/webhook.ts';
import type { AttemptResult } from '../delivery.ts';

/**
 * What deliveries write of a webhook's health, which is part of the webhook's item in table `Webhooks`. Each change holds only
 * for the record that the attempt was made with: a registration, URL or credential that took its place meanwhile is not
 * blamed. Gives whether the change was made.
 */
export interface WebhookHealthStore {
  /** Stores the first failure after registration, replacement, reactivation or a success. */
  startedFailing(webhook: Webhook): Promise<boolean>;
  /** Stores the first success after failures. */
  recovered(webhook: Webhook): Promise<boolean>;
  /** Stores that operators are told how long the webhook has been failing, and tells them. False: somebody else did. */
  announceFailing(webhook: Webhook, mark: number, lastResult: AttemptResult): Promise<boolean>;
  /**
   * Suspends the webhook because of its receiver's 410, whatever its credential by now, and has it announced.
   * `suspended_already`: nothing was changed. `replaced`: its registration or URL is another one by now.
   */
  suspendGone(webhook: Webhook, lastResult: AttemptResult): Promise<'suspended' | 'suspended_already' | 'replaced'>;
  /** Suspends a webhook that is still failing since the attempt's webhook was, and has it announced. */
  suspendFailing(webhook: Webhook, lastResult: AttemptResult): Promise<boolean>;
}

/** Makes the writer of webhooks' health over the table `Webhooks`. */
export function makeWebhookHealthStore({
  dynamo,
  table,
  now,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
}): WebhookHealthStore {
  return {
    startedFailing(webhook) {
      return change(webhook, {
        update: 'SET failingSince = :now REMOVE failingMark',
        when: 'attribute_not_exists(failingSince)',
        values: { ':now': now() },
      });
    },

    recovered(webhook) {
      return change(webhook, {
        update: 'REMOVE failingSince',
        when: 'failingSince = :seen',
        values: { ':seen': webhook.failingSince },
      });
    },

    async announceFailing(webhook, mark, lastResult) {
      const { failingSince } = webhook;
      if (failingSince === undefined) return false;
      return change(webhook, {
        update: 'SET failingMark = :mark',
        when: 'failingSince = :since AND (attribute_not_exists(failingMark) OR failingMark < :mark)',
        values: { ':since': failingSince, ':mark': mark },
        announcement: { type: 'webhook.failing', since: failingSince, reason: null, lastResult },
      });
    },

    async suspendGone(webhook, lastResult) {
      const { accountId, eventName, webhookId, url } = webhook;
      for (let tries = 1; tries <= maxSuspendTries; tries++) {
        const isSuspended = await change(webhook, {
          ...suspension('gone', lastResult),
          when: '#status = :active',
          withAnyAuthorization: true,
        });
        if (isSuspended) return 'suspended';
        const [item] = await batchGet(dynamo, [{ table, key: webhookKey(accountId, eventName) }]);
        const found = webhookIn(item);
        if (found?.webhookId !== webhookId || found.url !== url) return 'replaced';
        if (found.status === 'suspended') return 'suspended_already';
      }
      throw new Error('The webhook is suspended and reactivated too often just now.');
    },

    suspendFailing(webhook, lastResult) {
      const { values, ...suspended } = suspension('no_success', lastResult);
      return change(webhook, {
        ...suspended,
        when: '#status = :active AND failingSince = :since',
        values: { ...values, ':since': webhook.failingSince },
      });
    },
  };

  function suspension(reason: 'gone' | 'no_success', lastResult: AttemptResult) {
    const moment = now();
    return {
      update: 'SET #status = :suspended, suspensionReason = :reason, updatedAt = :now',
      names: { '#status': 'status' },
      values: { ':suspended': 'suspended', ':active': 'active', ':reason': reason, ':now': moment },
      announcement: { type: 'webhook.suspended', since: moment, reason, lastResult } as const,
    };
  }

  async function change(webhook: Webhook, requested: Change): Promise<boolean> {
    const { update, when, withAnyAuthorization = false, announcement } = requested;
    const { accountId, eventName, webhookId, url, sealedAuthorization } = webhook;
    const updated = await updateWebhook(dynamo, {
      table,
      key: webhookKey(accountId, eventName),
      update,
      when: `webhookId = :webhookId AND #url = :url AND ${
        withAnyAuthorization ? '' : `${hasAuthorization(sealedAuthorization)} AND `
      }${when}`,
      names: { '#url': 'url', ...requested.names },
      values: {
        ':webhookId': webhookId,
        ':url': url,
        ...(!withAnyAuthorization && { ':authorization': sealedAuthorization }), // left out where there is none
        ...requested.values,
      },
      announcement,
      announcedAt: now(),
    });
    return updated !== undefined;
  }
}

interface Change {
  readonly update: string;
  readonly when: string;
  /** Whether it holds for the record with another credential too. */
  readonly withAnyAuthorization?: boolean;
  readonly names?: Record<string, string>;
  readonly values: Record<string, unknown>;
  readonly announcement?: Announcement;
}

/** The condition that the credential is still the one that the attempt was made with. */
function hasAuthorization(sealed: string | undefined): string {
  return sealed === undefined ? 'attribute_not_exists(sealedAuthorization)' : 'sealedAuthorization = :authorization';
}

/** How often a suspension is tried while its account reactivates the webhook. */
const maxSuspendTries = 3;
