import { type DynamoDBDocumentClient, GetCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { type Item, isConditionFailed } from '../platform/dynamodb.ts';
import { type EventName, parseWebhook, type Webhook, webhookKey } from './webhook.ts';

/** What operators do with the webhooks of any account. What gives `undefined` found no webhook. */
export interface OperatorStore {
  /** All webhooks, by account and event. */
  listAll(): Promise<readonly Webhook[]>;
  /** Suspends a webhook, whatever its state: only an operator ends that. */
  suspend(accountId: string, evento: EventName): Promise<Webhook | undefined>;
  /** Ends any suspension and forgets the receiver's health; an active webhook stays as it is. */
  reactivate(accountId: string, evento: EventName): Promise<Webhook | undefined>;
}

/** What the store stands on. */
export interface OperatorStoreDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly now: Clock;
}

/** Makes the operators' view of table `Webhooks`; no function has it. */
export const makeOperatorStore = ({ documents, tableName, now }: OperatorStoreDependencies): OperatorStore => {
  /** Gives the webhook as it is then; nothing where there is none, or the condition does not hold. */
  const change = async (accountId: string, evento: EventName, update: string, values: Item, condition = '') => {
    try {
      const { Attributes } = await documents.send(
        new UpdateCommand({
          TableName: tableName,
          Key: webhookKey(accountId, evento),
          UpdateExpression: update,
          ConditionExpression: `attribute_exists(evento)${condition}`,
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ...values, ':now': now() },
          ReturnValues: 'ALL_NEW',
        }),
      );
      return Attributes && parseWebhook(Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

  const listAll = async (): Promise<Webhook[]> => {
    const webhooks: Webhook[] = [];
    let from: Item | undefined;
    do {
      const page = await documents.send(
        new ScanCommand({ TableName: tableName, ConsistentRead: true, ExclusiveStartKey: from }),
      );
      webhooks.push(...(page.Items ?? []).map(parseWebhook));
      from = page.LastEvaluatedKey;
    } while (from);
    const keyOf = ({ accountId, evento }: Webhook) => `${accountId} ${evento}`;
    return webhooks.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  };

  return {
    listAll,

    suspend: (accountId, evento) =>
      change(accountId, evento, 'SET #status = :suspended, suspensionReason = :operator, updatedAt = :now', {
        ':suspended': 'suspenso',
        ':operator': 'operador',
      }),

    reactivate: async (accountId, evento) => {
      const reactivated = await change(
        accountId,
        evento,
        'SET #status = :active, suspensionReason = :none, updatedAt = :now REMOVE failingSince',
        { ':active': 'ativo', ':none': null, ':suspended': 'suspenso' },
        ' AND #status = :suspended',
      );
      if (reactivated) return reactivated;
      const { Item } = await documents.send(
        new GetCommand({ TableName: tableName, Key: webhookKey(accountId, evento), ConsistentRead: true }),
      );
      return Item && parseWebhook(Item);
    },
  };
};
