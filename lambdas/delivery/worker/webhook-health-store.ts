import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { isConditionFailed, readTogether } from '../../platform/dynamo.ts';
import { type Announcement, updateAnnouncing } from '../../webhooks/announcement.ts';
import { type Webhook, webhookIn, webhookKey } from '../../webhooks/webhook.ts';
import type { AttemptResult } from '../delivery.ts';

/**
 * What deliveries change of a webhook. Each change holds only for the record that the attempt was made with: a
 * registration, URL or credential that took its place meanwhile is not blamed. Gives whether the change was made.
 */
export interface WebhookHealthStore {
  /** Notes the first failure after registration, replacement, reactivation or a success. */
  startedFailing(webhook: Webhook): Promise<boolean>;
  /** Notes the first success after failures. */
  recovered(webhook: Webhook): Promise<boolean>;
  /** Notes that operators are told how long the webhook has been failing, and tells them. False: somebody else did. */
  announceFailing(webhook: Webhook, mark: number, lastResult: AttemptResult): Promise<boolean>;
  /**
   * Suspends the webhook because of its receiver's 410, whatever its credential by now, and has it announced.
   * `suspended_already`: nothing was changed. `replaced`: its registration or URL is another one by now.
   */
  suspendGone(webhook: Webhook, lastResult: AttemptResult): Promise<'suspended' | 'suspended_already' | 'replaced'>;
  /** Suspends a webhook that is still failing since the attempt's webhook was, and has it announced. */
  suspendFailing(webhook: Webhook, lastResult: AttemptResult): Promise<boolean>;
}

/** What the writer of webhooks' health is made of. */
export interface WebhookHealthDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Webhooks`. */
  readonly table: string;
  readonly now: Clock;
}

/** Makes the writer of webhooks' health. */
export function makeWebhookHealthStore({ dynamo, table, now }: WebhookHealthDependencies): WebhookHealthStore {
  const change = async (
    webhook: Webhook,
    { update, when, withAnyAuthorization, names, values, told }: Change,
  ): Promise<boolean> => {
    const { sealedAuthorization } = webhook;
    const whichAuthorization =
      sealedAuthorization === undefined
        ? 'attribute_not_exists(sealedAuthorization)'
        : 'sealedAuthorization = :authorization';
    const sameAuthorization = withAnyAuthorization ? '' : `${whichAuthorization} AND `;
    const write = {
      key: webhookKey(webhook.accountId, webhook.eventName),
      when: `webhookId = :webhookId AND #url = :url AND ${sameAuthorization}${when}`,
      names: { '#url': 'url', ...names },
      values: {
        ':webhookId': webhook.webhookId,
        ':url': webhook.url,
        ...(sameAuthorization !== '' && { ':authorization': sealedAuthorization }), // left out where there is none
        ...values,
      },
    };
    const plain = () =>
      dynamo.send(
        new UpdateCommand({
          TableName: table,
          Key: write.key,
          UpdateExpression: update,
          ConditionExpression: write.when,
          ExpressionAttributeNames: write.names,
          ExpressionAttributeValues: write.values,
        }),
      );
    try {
      await (told ? updateAnnouncing(dynamo, { ...write, table, update, announcement: told, now: now() }) : plain());
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

  const suspension = (reason: 'gone' | 'no_success', lastResult: AttemptResult) => {
    const moment = now();
    return {
      update: 'SET #status = :suspended, suspensionReason = :reason, updatedAt = :now',
      names: { '#status': 'status' },
      values: { ':suspended': 'suspended', ':active': 'active', ':reason': reason, ':now': moment },
      told: { type: 'webhook.suspended', since: moment, reason, lastResult } as const,
    };
  };

  return {
    startedFailing: webhook =>
      change(webhook, {
        update: 'SET failingSince = :now REMOVE failingMark',
        when: 'attribute_not_exists(failingSince)',
        values: { ':now': now() },
      }),
    recovered: webhook =>
      change(webhook, {
        update: 'REMOVE failingSince',
        when: 'failingSince = :seen',
        values: { ':seen': webhook.failingSince },
      }),

    announceFailing: async (webhook, mark, lastResult) => {
      const { failingSince } = webhook;
      if (failingSince === undefined) return false;
      const told = { type: 'webhook.failing', since: failingSince, reason: null, lastResult } as const;
      return change(webhook, {
        update: 'SET failingMark = :mark',
        when: 'failingSince = :since AND (attribute_not_exists(failingMark) OR failingMark < :mark)',
        values: { ':since': failingSince, ':mark': mark },
        told,
      });
    },

    suspendGone: async (webhook, lastResult) => {
      const { accountId, eventName, webhookId, url } = webhook;
      for (let attempt = 0; attempt < suspensionTries; attempt++) {
        const when = '#status = :active';
        const isSuspended = await change(webhook, {
          ...suspension('gone', lastResult),
          when,
          withAnyAuthorization: true,
        });
        if (isSuspended) return 'suspended';
        const [item] = await readTogether(dynamo, [{ table, key: webhookKey(accountId, eventName) }]);
        const found = webhookIn(item);
        if (found?.webhookId !== webhookId || found.url !== url) return 'replaced';
        if (found.status === 'suspended') return 'suspended_already';
      }
      throw new Error('The webhook is suspended and reactivated too often just now.');
    },

    suspendFailing: async (webhook, lastResult) => {
      const { values, ...suspended } = suspension('no_success', lastResult);
      return change(webhook, {
        ...suspended,
        when: '#status = :active AND failingSince = :since',
        values: { ...values, ':since': webhook.failingSince },
      });
    },
  };
}

interface Change {
  readonly update: string;
  readonly when: string;
  /** Whether it holds for the record with another credential too. */
  readonly withAnyAuthorization?: boolean;
  readonly names?: Record<string, string>;
  readonly values: Record<string, unknown>;
  readonly told?: Announcement;
}

/** How often a suspension is tried while its account reactivates the webhook. */
const suspensionTries = 3;
