import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { conditionalWrite, type Item } from '../platform/dynamo.ts';
import { updateWebhook, type WebhookUpdate } from './announcement.ts';
import { type EventName, type SigningSecret, type Webhook, webhookIn, webhookKey } from './webhook.ts';

/** The registrations of all accounts. Reads are consistent; `undefined` means that there is no such webhook. */
export interface WebhookStore {
  /**
   * Gives the webhook as stored: suspended, if an operator suspended an earlier one and did not reactivate it. Gives
   * `undefined` when the account already has a webhook for this event.
   */
  create(webhook: Webhook): Promise<Webhook | undefined>;
  find(accountId: string, eventName: EventName): Promise<Webhook | undefined>;
  /** An account's webhooks, by event name. */
  list(accountId: string): Promise<readonly Webhook[]>;
  /**
   * Sets the URL and authorization of the webhook that was read, and forgets that it was failing. A different URL also ends a
   * suspension, unless it is an operator's. Gives `undefined` when its registration, URL or state has changed since.
   */
  replace(read: Webhook, replacement: Replacement): Promise<Webhook | undefined>;
  /** Removes a registration; an operator's suspension stays for the next one. */
  remove(accountId: string, eventName: EventName, now: number): Promise<Removal>;
  /** Sets the secrets of the webhook that was read; gives `false` when its registration or secrets have changed since. */
  replaceSecrets(read: Webhook, secrets: readonly SigningSecret[], updatedAt: number): Promise<boolean>;
  /** Ends a suspension, unless it is an operator's, and forgets the receiver's failures; gives the webhook after that. */
  reactivate(accountId: string, eventName: EventName, updatedAt: number): Promise<Webhook | undefined>;
  /** Stores the time of a test, unless an operator suspended; gives the webhook after that. */
  noteTest(accountId: string, eventName: EventName, testedAt: number): Promise<Webhook | undefined>;
}

/**
 * Makes the store over the table `Webhooks`: partition `accountId`, range `eventName`, one item per registration.
 * An account's list is one query, and deliveries find theirs by the key that the event's message gives.
 *
 * An operator's suspension outlives the registration: without a registration the item holds `status` and `suspensionReason`
 * only. That is no webhook (`webhookIn`), and the next registration keeps both. Since it is one item, one condition decides
 * races between an operator, a removal and a registration.
 */
export function makeWebhookStore({
  dynamo,
  table: TableName,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
}): WebhookStore {
  const find = async (accountId: string, eventName: EventName): Promise<Webhook | undefined> => {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName, Key: webhookKey(accountId, eventName), ConsistentRead: true }),
    );
    return webhookIn(Item);
  };

  /** Gives the webhook after the update; `undefined` when the condition does not hold. */
  const update = async (
    accountId: string,
    eventName: EventName,
    change: Pick<WebhookUpdate, 'update' | 'when' | 'names' | 'values' | 'announcement'>,
  ): Promise<Webhook | undefined> =>
    webhookIn(await updateWebhook(dynamo, { ...change, table: TableName, key: webhookKey(accountId, eventName) }));

  return {
    find,

    create: async webhook => {
      const { accountId, eventName, webhookId, status, suspensionReason, ...rest } = webhook;
      const given = Object.entries({ webhookId, ...rest }).filter(([, value]) => value !== undefined);
      const sets = given.map((_, at) => `#n${at} = :v${at}`);
      const created = await update(accountId, eventName, {
        update: `SET ${sets.join(', ')}, #status = if_not_exists(#status, :status), suspensionReason = if_not_exists(suspensionReason, :reason)`,
        when: 'attribute_not_exists(webhookId)',
        names: { '#status': 'status', ...Object.fromEntries(given.map(([name], at) => [`#n${at}`, name])) },
        values: {
          ':status': status,
          ':reason': suspensionReason,
          ...Object.fromEntries(given.map(([, value], at) => [`:v${at}`, value])),
        },
      });
      if (created) return created;
      // The SDK repeats a write whose answer was lost: the stored webhook may be our own.
      const found = await find(accountId, eventName);
      return found?.webhookId === webhookId ? found : undefined;
    },

    list: async accountId => {
      const webhooks: Webhook[] = [];
      let from: Item | undefined;
      do {
        const page: QueryCommandOutput = await dynamo.send(
          new QueryCommand({
            TableName,
            ConsistentRead: true,
            KeyConditionExpression: 'accountId = :accountId',
            ExpressionAttributeValues: { ':accountId': accountId },
            ExclusiveStartKey: from,
          }),
        );
        webhooks.push(...(page.Items ?? []).map(webhookIn).filter(webhook => webhook !== undefined));
        from = page.LastEvaluatedKey;
      } while (from);
      return webhooks;
    },

    replace: async (read, { url, sealedAuthorization, updatedAt }) => {
      const { accountId, eventName, webhookId, status, suspensionReason } = read;
      const isOtherUrl = !isSameUrl(read.url, url);
      const endsSuspension = isOtherUrl && status === 'suspended' && suspensionReason !== 'operator';
      const announcement = { type: 'webhook.reactivated', since: updatedAt, reason: null, lastResult: null } as const;
      const sets = [
        '#url = :url',
        'updatedAt = :now',
        ...(sealedAuthorization === undefined ? [] : ['sealedAuthorization = :authorization']),
        ...(endsSuspension ? ['#status = :active, suspensionReason = :none'] : []),
      ];
      const removed = [
        'failingSince',
        'failingMark',
        ...(sealedAuthorization === undefined ? ['sealedAuthorization'] : []),
      ];
      return update(accountId, eventName, {
        update: `SET ${sets.join(', ')} REMOVE ${removed.join(', ')}`,
        when: 'webhookId = :webhookId AND #url = :seenUrl AND #status = :seen AND suspensionReason = :seenReason',
        names: { '#url': 'url', '#status': 'status' },
        values: {
          ':url': url,
          ':now': updatedAt,
          ':webhookId': webhookId,
          ':seenUrl': read.url,
          ':seen': status,
          ':seenReason': suspensionReason,
          ...(sealedAuthorization !== undefined && { ':authorization': sealedAuthorization }),
          ...(endsSuspension && { ':active': 'active', ':none': null }),
        },
        ...(endsSuspension && { announcement }),
      });
    },

    remove: async (accountId, eventName, now) => {
      const Key = webhookKey(accountId, eventName);
      const values = { ':operator': 'operator' };
      for (let tries = 0; tries < maxRemovalTries; tries++) {
        const remove = new DeleteCommand({
          TableName,
          Key,
          ConditionExpression: 'attribute_exists(webhookId) AND suspensionReason <> :operator',
          ExpressionAttributeValues: values,
        });
        if (await conditionalWrite(dynamo.send(remove))) return 'removed';
        const hold = new PutCommand({
          TableName,
          Item: operatorHold(accountId, eventName, now),
          ConditionExpression: 'attribute_exists(webhookId) AND suspensionReason = :operator',
          ExpressionAttributeValues: values,
        });
        if (await conditionalWrite(dynamo.send(hold))) return 'removed';
        if (!(await find(accountId, eventName))) return 'not_registered';
      }
      return 'contended';
    },

    replaceSecrets: async ({ accountId, eventName, webhookId, secrets: [current] }, secrets, updatedAt) => {
      const isReplaced = await update(accountId, eventName, {
        update: 'SET secrets = :secrets, updatedAt = :now',
        // Sealing never gives the same text twice: the current one identifies the list that was read.
        when: 'webhookId = :webhookId AND secrets[0].sealed = :current',
        values: {
          ':secrets': secrets,
          ':now': updatedAt,
          ':webhookId': webhookId,
          ':current': current?.sealed ?? '',
        },
      });
      if (isReplaced) return true;
      const found = await find(accountId, eventName);
      return found?.webhookId === webhookId && found.secrets[0]?.sealed === secrets[0]?.sealed;
    },

    reactivate: async (accountId, eventName, updatedAt) => {
      const announcement = { type: 'webhook.reactivated', since: updatedAt, reason: null, lastResult: null } as const;
      const reactivated = await update(accountId, eventName, {
        update: 'SET #status = :active, suspensionReason = :none, updatedAt = :now REMOVE failingSince, failingMark',
        when: 'attribute_exists(webhookId) AND #status = :suspended AND suspensionReason <> :operator',
        names: { '#status': 'status' },
        values: {
          ':active': 'active',
          ':suspended': 'suspended',
          ':operator': 'operator',
          ':none': null,
          ':now': updatedAt,
        },
        announcement,
      });
      return reactivated ?? find(accountId, eventName);
    },

    noteTest: async (accountId, eventName, testedAt) => {
      const noted = await update(accountId, eventName, {
        update: 'SET testedAt = :now',
        when: 'attribute_exists(webhookId) AND suspensionReason <> :operator',
        values: { ':now': testedAt, ':operator': 'operator' },
      });
      return noted ?? find(accountId, eventName);
    },
  };
}

/** The new values of a replacement; times in milliseconds since the epoch. */
interface Replacement {
  readonly url: string;
  /** If absent, the stored one is removed: a new host never gets an old credential. */
  readonly sealedAuthorization: string | undefined;
  readonly updatedAt: number;
}

/** The outcome of a removal. `contended`: nothing was removed, since others changed the webhook at each try. */
type Removal = 'removed' | 'not_registered' | 'contended';

/** Whether two URLs are equal (WHATWG URL section 4.6). */
function isSameUrl(one: string, other: string): boolean {
  return URL.parse(one)?.href === URL.parse(other)?.href;
}

/** How often a removal is tried while others change the same webhook. */
const maxRemovalTries = 3;

/** What a removed webhook leaves behind when an operator suspended it. */
function operatorHold(accountId: string, eventName: EventName, now: number): Item {
  return {
    ...webhookKey(accountId, eventName),
    status: 'suspended',
    suspensionReason: 'operator',
    updatedAt: now,
  };
}
