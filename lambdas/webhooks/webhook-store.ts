import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { isConditionFailed } from '../platform/dynamodb.ts';
import { type EventName, parseWebhook, type SigningSecret, type Webhook, webhookKey } from './webhook.ts';

/** What a replacement changes; times in milliseconds since the epoch. */
interface Replacement {
  readonly url: string;
  /** Without one, the stored one is removed: a new host never gets an old credential. */
  readonly sealedAuthorization: string | undefined;
  readonly updatedAt: number;
}

/** The registrations of all accounts. Reads are consistent; what gives `undefined` found no webhook. */
export interface WebhookStore {
  /** Gives `false` when the account has a webhook for this event already. */
  create(webhook: Webhook): Promise<boolean>;
  find(accountId: string, evento: EventName): Promise<Webhook | undefined>;
  /** An account's webhooks, by event name. */
  list(accountId: string): Promise<readonly Webhook[]>;
  /** Replaces URL and authorization and forgets the receiver's health; a suspension stays. */
  replace(accountId: string, evento: EventName, replacement: Replacement): Promise<Webhook | undefined>;
  /** Gives whether there was one. */
  remove(accountId: string, evento: EventName): Promise<boolean>;
  /** Sets the secrets of the webhook as it was read; gives `false` when it is another one, or its secrets are others, by now. */
  replaceSecrets(read: Webhook, secrets: readonly SigningSecret[], updatedAt: number): Promise<boolean>;
  /** Ends a suspension and forgets the receiver's health, unless an operator suspended; gives the webhook as it is then. */
  reactivate(accountId: string, evento: EventName, updatedAt: number): Promise<Webhook | undefined>;
}

/** What the store stands on. */
export interface WebhookStoreDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
}

/**
 * Makes the store over the table `Webhooks`: partition `accountId`, range `evento`, one item per registration.
 * An account's list is one query, and deliveries find theirs by the key that the event's message gives.
 */
export const makeWebhookStore = ({ documents, tableName: TableName }: WebhookStoreDependencies): WebhookStore => {
  const find = async (accountId: string, evento: EventName): Promise<Webhook | undefined> => {
    const { Item } = await documents.send(
      new GetCommand({ TableName, Key: webhookKey(accountId, evento), ConsistentRead: true }),
    );
    return Item && parseWebhook(Item);
  };

  /** Runs a conditional write; gives `undefined` when its condition did not hold. */
  const unlessRefused = async <T>(write: Promise<T>): Promise<T | undefined> => {
    try {
      return await write;
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

  return {
    find,

    create: async webhook => {
      const { accountId, evento, webhookId } = webhook;
      const write = new PutCommand({ TableName, Item: webhook, ConditionExpression: 'attribute_not_exists(evento)' });
      if (await unlessRefused(documents.send(write))) return true;
      // The client repeats a write whose answer got lost: what stands there may be our own.
      return (await find(accountId, evento))?.webhookId === webhookId;
    },

    list: async accountId => {
      const webhooks: Webhook[] = [];
      let from: Record<string, unknown> | undefined;
      do {
        const page: QueryCommandOutput = await documents.send(
          new QueryCommand({
            TableName,
            ConsistentRead: true,
            KeyConditionExpression: 'accountId = :accountId',
            ExpressionAttributeValues: { ':accountId': accountId },
            ExclusiveStartKey: from,
          }),
        );
        webhooks.push(...(page.Items ?? []).map(parseWebhook));
        from = page.LastEvaluatedKey;
      } while (from);
      return webhooks;
    },

    replace: async (accountId, evento, { url, sealedAuthorization, updatedAt }) => {
      const authorization = sealedAuthorization === undefined ? [] : [', sealedAuthorization = :authorization'];
      const removed = ['failingSince', ...(sealedAuthorization === undefined ? ['sealedAuthorization'] : [])];
      const answer = await unlessRefused(
        documents.send(
          new UpdateCommand({
            TableName,
            Key: webhookKey(accountId, evento),
            UpdateExpression: `SET #url = :url, updatedAt = :now${authorization.join('')} REMOVE ${removed.join(', ')}`,
            ConditionExpression: 'attribute_exists(evento)',
            ExpressionAttributeNames: { '#url': 'url' },
            ExpressionAttributeValues: {
              ':url': url,
              ':now': updatedAt,
              ...(sealedAuthorization === undefined ? {} : { ':authorization': sealedAuthorization }),
            },
            ReturnValues: 'ALL_NEW',
          }),
        ),
      );
      return answer?.Attributes && parseWebhook(answer.Attributes);
    },

    remove: async (accountId, evento) => {
      const write = new DeleteCommand({
        TableName,
        Key: webhookKey(accountId, evento),
        ConditionExpression: 'attribute_exists(evento)',
      });
      return (await unlessRefused(documents.send(write))) !== undefined;
    },

    replaceSecrets: async ({ accountId, evento, webhookId, secrets: [current] }, secrets, updatedAt) => {
      const write = new UpdateCommand({
        TableName,
        Key: webhookKey(accountId, evento),
        UpdateExpression: 'SET secrets = :secrets, updatedAt = :now',
        // A sealed text is never the same twice: the current one tells whether the list is still the one that was read.
        ConditionExpression: 'webhookId = :webhookId AND secrets[0].sealed = :current',
        ExpressionAttributeValues: {
          ':secrets': secrets,
          ':now': updatedAt,
          ':webhookId': webhookId,
          ':current': current?.sealed ?? '',
        },
      });
      if (await unlessRefused(documents.send(write))) return true;
      const found = await find(accountId, evento);
      return found?.webhookId === webhookId && found.secrets[0]?.sealed === secrets[0]?.sealed;
    },

    reactivate: async (accountId, evento, updatedAt) => {
      const answer = await unlessRefused(
        documents.send(
          new UpdateCommand({
            TableName,
            Key: webhookKey(accountId, evento),
            UpdateExpression: 'SET #status = :active, suspensionReason = :none, updatedAt = :now REMOVE failingSince',
            ConditionExpression: '#status = :suspended AND suspensionReason <> :operator',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: {
              ':active': 'ativo',
              ':suspended': 'suspenso',
              ':operator': 'operador',
              ':none': null,
              ':now': updatedAt,
            },
            ReturnValues: 'ALL_NEW',
          }),
        ),
      );
      return answer?.Attributes ? parseWebhook(answer.Attributes) : find(accountId, evento);
    },
  };
};
