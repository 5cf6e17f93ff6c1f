import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type Item, isConditionFailed } from '../platform/dynamo.ts';
import { type Announcement, updateAnnouncing } from './announcement.ts';
import { type EventName, type SigningSecret, type Webhook, webhookIn, webhookKey } from './webhook.ts';

/** The registrations of all accounts. Reads are consistent; what gives `undefined` found no webhook. */
export interface WebhookStore {
  /**
   * Gives the webhook as it is then: suspended, where an operator suspended an earlier one and did not reactivate it.
   * Nothing: the account has a webhook for this event already.
   */
  create(webhook: Webhook): Promise<Webhook | undefined>;
  find(accountId: string, eventName: EventName): Promise<Webhook | undefined>;
  /** An account's webhooks, by event name. */
  list(accountId: string): Promise<readonly Webhook[]>;
  /**
   * Sets URL and authorization of the webhook as it was read and forgets that it was failing. Another URL ends a
   * suspension too, unless an operator suspended. Nothing: it is another one, or has another URL or state, by now.
   */
  replace(read: Webhook, replacement: Replacement): Promise<Webhook | undefined>;
  /** An operator's suspension stays, for the next registration. */
  remove(accountId: string, eventName: EventName, now: number): Promise<Removal>;
  /** Sets the secrets of the webhook as it was read; gives `false` when it is another one, or its secrets are others, by now. */
  replaceSecrets(read: Webhook, secrets: readonly SigningSecret[], updatedAt: number): Promise<boolean>;
  /** Ends a suspension and forgets the receiver's health, unless an operator suspended; gives the webhook as it is then. */
  reactivate(accountId: string, eventName: EventName, updatedAt: number): Promise<Webhook | undefined>;
  /** Notes a test, unless an operator suspended; gives the webhook as it is then. */
  noteTest(accountId: string, eventName: EventName, testedAt: number): Promise<Webhook | undefined>;
}

/** What the store is made of. */
export interface WebhookStoreDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
}

/**
 * Makes the store over the table `Webhooks`: partition `accountId`, range `eventName`, one item per registration.
 * An account's list is one query, and deliveries find theirs by the key that the event's message gives.
 *
 * An operator's suspension outlives the registration: with that removed, or before there is one, the item holds `status`
 * and `suspensionReason` only. It is no webhook (`webhookIn`); a registration takes both over. One item, so one condition
 * decides between an operator, a removal and a registration that meet.
 */
export function makeWebhookStore({ dynamo, tableName: TableName }: WebhookStoreDependencies): WebhookStore {
  const find = async (accountId: string, eventName: EventName): Promise<Webhook | undefined> => {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName, Key: webhookKey(accountId, eventName), ConsistentRead: true }),
    );
    return webhookIn(Item);
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

  /** Gives the webhook as it is then; nothing, where the condition did not hold. */
  const update = async (
    accountId: string,
    eventName: EventName,
    {
      told,
      ...change
    }: { update: string; when: string; names?: Record<string, string>; values: Item; told?: Announcement },
  ): Promise<Webhook | undefined> => {
    const key = webhookKey(accountId, eventName);
    const plain = () =>
      dynamo.send(
        new UpdateCommand({
          TableName,
          Key: key,
          UpdateExpression: change.update,
          ConditionExpression: change.when,
          ...(change.names && { ExpressionAttributeNames: change.names }),
          ExpressionAttributeValues: change.values,
          ReturnValues: 'ALL_NEW',
        }),
      );
    const answer = await unlessRefused(
      told
        ? updateAnnouncing(dynamo, { ...change, table: TableName, key, announcement: told, now: told.since })
        : plain(),
    );
    return answer && webhookIn(answer.Attributes);
  };

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
      // The client repeats a write whose answer got lost: what stands there may be our own.
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
      const isMoved = !isSameUrl(read.url, url);
      const ends = isMoved && status === 'suspended' && suspensionReason !== 'operator';
      const told = { type: 'webhook.reactivated', since: updatedAt, reason: null, lastResult: null } as const;
      const sets = [
        '#url = :url',
        'updatedAt = :now',
        ...(sealedAuthorization === undefined ? [] : ['sealedAuthorization = :authorization']),
        ...(ends ? ['#status = :active, suspensionReason = :none'] : []),
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
          ...(ends && { ':active': 'active', ':none': null }),
        },
        ...(ends && { told }),
      });
    },

    remove: async (accountId, eventName, now) => {
      const Key = webhookKey(accountId, eventName);
      const values = { ':operator': 'operator' };
      for (let attempt = 0; attempt < removalTries; attempt++) {
        const remove = new DeleteCommand({
          TableName,
          Key,
          ConditionExpression: 'attribute_exists(webhookId) AND suspensionReason <> :operator',
          ExpressionAttributeValues: values,
        });
        if (await unlessRefused(dynamo.send(remove))) return 'removed';
        const hold = new PutCommand({
          TableName,
          Item: operatorHold(accountId, eventName, now),
          ConditionExpression: 'attribute_exists(webhookId) AND suspensionReason = :operator',
          ExpressionAttributeValues: values,
        });
        if (await unlessRefused(dynamo.send(hold))) return 'removed';
        if (!(await find(accountId, eventName))) return 'not_registered';
      }
      return 'contended';
    },

    replaceSecrets: async ({ accountId, eventName, webhookId, secrets: [current] }, secrets, updatedAt) => {
      const isReplaced = await update(accountId, eventName, {
        update: 'SET secrets = :secrets, updatedAt = :now',
        // A sealed text is never the same twice: the current one tells whether the list is still the one that was read.
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
      const told = { type: 'webhook.reactivated', since: updatedAt, reason: null, lastResult: null } as const;
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
        told,
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

/** What a replacement changes; times in milliseconds since the epoch. */
interface Replacement {
  readonly url: string;
  /** Without one, the stored one is removed: a new host never gets an old credential. */
  readonly sealedAuthorization: string | undefined;
  readonly updatedAt: number;
}

/** What a removal came to. `contended`: nothing was removed, since others changed the webhook each time that was tried. */
type Removal = 'removed' | 'not_registered' | 'contended';

/** Whether two URLs are the same one (WHATWG URL, section 4.5). */
function isSameUrl(one: string, other: string): boolean {
  return URL.parse(one)?.href === URL.parse(other)?.href;
}

/** How often a removal is tried while others suspend, reactivate, delete and register the same webhook. */
const removalTries = 3;

/** What a webhook that is removed leaves behind where an operator suspended it. */
function operatorHold(accountId: string, eventName: EventName, now: number): Item {
  return {
    ...webhookKey(accountId, eventName),
    status: 'suspended',
    suspensionReason: 'operator',
    updatedAt: now,
  };
}
