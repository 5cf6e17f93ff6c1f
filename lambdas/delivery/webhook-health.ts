import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { isConditionFailed } from '../platform/dynamodb.ts';
import { type Webhook, webhookKey } from '../webhooks/webhook.ts';

/**
 * What deliveries change of a webhook. Each change holds only for the record that the attempt was made with: a
 * registration, URL or credential that took its place meanwhile is not blamed. Gives whether the change was made.
 */
export interface WebhookHealth {
  /** Notes the first failure after registration, replacement, reactivation or a success. */
  startedFailing(webhook: Webhook): Promise<boolean>;
  /** Notes the first success after failures. */
  recovered(webhook: Webhook): Promise<boolean>;
  suspend(webhook: Webhook, reason: 'gone' | 'sem_sucesso'): Promise<boolean>;
}

/** What a webhook's health stands on. */
export interface WebhookHealthDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Webhooks`. */
  readonly table: string;
  readonly now: Clock;
}

interface Change {
  readonly update: string;
  readonly when: string;
  readonly names?: Record<string, string>;
  readonly values: Record<string, unknown>;
}

/** Makes the writer of webhooks' health. */
export const makeWebhookHealth = ({ documents, table, now }: WebhookHealthDependencies): WebhookHealth => {
  const change = async (webhook: Webhook, { update, when, names, values }: Change): Promise<boolean> => {
    const sameAuthorization =
      webhook.sealedAuthorization === undefined
        ? 'attribute_not_exists(sealedAuthorization)'
        : 'sealedAuthorization = :authorization';
    try {
      await documents.send(
        new UpdateCommand({
          TableName: table,
          Key: webhookKey(webhook.accountId, webhook.evento),
          UpdateExpression: update,
          ConditionExpression: `webhookId = :webhookId AND #url = :url AND ${sameAuthorization} AND ${when}`,
          ExpressionAttributeNames: { '#url': 'url', ...names },
          ExpressionAttributeValues: {
            ':webhookId': webhook.webhookId,
            ':url': webhook.url,
            ':authorization': webhook.sealedAuthorization, // left out of the request where there is none
            ...values,
          },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

  return {
    startedFailing: webhook =>
      change(webhook, {
        update: 'SET failingSince = :now',
        when: 'attribute_not_exists(failingSince)',
        values: { ':now': now() },
      }),
    recovered: webhook =>
      change(webhook, {
        update: 'REMOVE failingSince',
        when: 'failingSince = :seen',
        values: { ':seen': webhook.failingSince },
      }),
    suspend: (webhook, reason) =>
      change(webhook, {
        update: 'SET #status = :suspended, suspensionReason = :reason, updatedAt = :now',
        when: '#status = :active',
        names: { '#status': 'status' },
        values: { ':suspended': 'suspenso', ':active': 'ativo', ':reason': reason, ':now': now() },
      }),
  };
};
