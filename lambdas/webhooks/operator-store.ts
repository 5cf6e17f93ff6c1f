import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { conditionalWrite, type Item } from '../platform/dynamo.ts';
import { updateWebhook, type WebhookUpdate } from './announcement.ts';
import { type EventName, type Webhook, webhookIn, webhookKey } from './webhook.ts';
import { makeWebhookStore } from './webhook-store.ts';

/** An operator's suspension without a registration: the next webhook begins suspended. `since` in milliseconds since the epoch. */
export interface Hold {
  readonly accountId: string;
  readonly eventName: EventName;
  readonly since: number;
}

/** Webhooks that are suspended or failing. */
interface TroubledWebhooks {
  readonly found: readonly (Webhook | Hold)[];
  /** How many webhooks were read to find them. */
  readonly read: number;
  /** Whether there are more webhooks than were read. */
  readonly isCutOff: boolean;
}

/** What operators do with webhooks of any account. */
export interface OperatorStore {
  find(accountId: string, eventName: EventName): Promise<Webhook | Hold | undefined>;
  /** All webhooks, and suspensions without one, by account and event. */
  listAll(): Promise<readonly (Webhook | Hold)[]>;
  /** The suspended and the failing ones among those that a bounded read of the table finds. */
  listTroubled(): Promise<TroubledWebhooks>;
  /** Suspends a webhook in any state, or the next one to be registered: only an operator ends that. */
  suspend(accountId: string, eventName: EventName): Promise<OperatorChange>;
  /** Ends any suspension and forgets the receiver's failures. `undefined`: there is neither a webhook nor a suspension. */
  reactivate(accountId: string, eventName: EventName): Promise<OperatorChange | undefined>;
}

/** The dependencies of the store. */
export interface OperatorStoreDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
}

/** Makes the operators' store over table `Webhooks`; only the ops tool uses it. `webhook-store.ts` explains suspensions. */
export function makeOperatorStore({ dynamo, table, now }: OperatorStoreDependencies): OperatorStore {
  const { find: findWebhook } = makeWebhookStore({ dynamo, table });

  /** Gives the item after the update; `undefined` when the condition does not hold. */
  const update = (
    accountId: string,
    eventName: EventName,
    change: Pick<WebhookUpdate, 'update' | 'when' | 'values' | 'announcement'>,
  ): Promise<Item | undefined> =>
    updateWebhook(dynamo, {
      ...change,
      table,
      key: webhookKey(accountId, eventName),
      names: { '#status': 'status' },
    });

  const scan = async (): Promise<Item[]> => {
    const items: Item[] = [];
    let from: Item | undefined;
    do {
      const page = await dynamo.send(
        new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: from }),
      );
      items.push(...(page.Items ?? []));
      from = page.LastEvaluatedKey;
    } while (from);
    return items;
  };

  /** Nothing but a scan finds them: an index would be written with every attempt at a receiver that fails now and then. */
  const listTroubled: OperatorStore['listTroubled'] = async () => {
    const found: (Webhook | Hold)[] = [];
    let read = 0;
    let from: Item | undefined;
    for (let page = 0; page < mostTroubledPages; page++) {
      const answer = await dynamo.send(
        new ScanCommand({
          TableName: table,
          FilterExpression: '#status = :suspended OR attribute_exists(failingSince)',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':suspended': 'suspended' },
          ExclusiveStartKey: from,
        }),
      );
      found.push(...(answer.Items ?? []).map(item => webhookIn(item) ?? holdIn(item)));
      read += answer.ScannedCount ?? 0;
      from = answer.LastEvaluatedKey;
      if (!from) break;
    }
    return { found, read, isCutOff: from !== undefined };
  };

  const listAll: OperatorStore['listAll'] = async () => {
    const all = (await scan()).map(item => webhookIn(item) ?? holdIn(item));
    const keyOf = ({ accountId, eventName }: Webhook | Hold) => `${accountId} ${eventName}`;
    return all.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  };

  /** One write, whatever is registered: an account cannot evade it by deleting and registering meanwhile. */
  const suspend: OperatorStore['suspend'] = async (accountId, eventName) => {
    const moment = now();
    const announcement = { type: 'webhook.suspended', since: moment, reason: 'operator', lastResult: null } as const;
    const suspended = await update(accountId, eventName, {
      update: 'SET #status = :suspended, suspensionReason = :operator, updatedAt = :now',
      when: 'attribute_not_exists(suspensionReason) OR suspensionReason <> :operator',
      values: { ':suspended': 'suspended', ':operator': 'operator', ':now': moment },
      announcement,
    });
    const webhook = suspended ? webhookIn(suspended) : await findWebhook(accountId, eventName);
    return webhook ? { outcome: 'changed', webhook } : { outcome: 'not_registered' };
  };

  const reactivateOnce = async (
    accountId: string,
    eventName: EventName,
  ): Promise<OperatorChange | 'nothing' | 'retry'> => {
    const moment = now();
    const announcement = { type: 'webhook.reactivated', since: moment, reason: null, lastResult: null } as const;
    const reactivated = await update(accountId, eventName, {
      update: 'SET #status = :active, suspensionReason = :none, updatedAt = :now REMOVE failingSince, failingMark',
      when: 'attribute_exists(webhookId) AND #status = :suspended',
      values: { ':active': 'active', ':none': null, ':suspended': 'suspended', ':now': moment },
      announcement,
    });
    const webhook = webhookIn(reactivated);
    if (webhook) return { outcome: 'changed', webhook };
    const found = await findWebhook(accountId, eventName);
    if (found) return found.status === 'active' ? { outcome: 'changed', webhook: found } : 'retry';
    const endHold = new DeleteCommand({
      TableName: table,
      Key: webhookKey(accountId, eventName),
      ConditionExpression: 'attribute_exists(eventName) AND attribute_not_exists(webhookId)',
    });
    if (await conditionalWrite(dynamo.send(endHold))) return { outcome: 'not_registered' };
    return (await findWebhook(accountId, eventName)) ? 'retry' : 'nothing';
  };

  return {
    find: async (accountId, eventName) => {
      const Key = webhookKey(accountId, eventName);
      const { Item } = await dynamo.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
      return webhookIn(Item) ?? (Item && holdIn(Item));
    },
    listAll,
    listTroubled,
    suspend,
    reactivate: async (accountId, eventName) => {
      for (let tries = 0; tries < maxReactivationTries; tries++) {
        const result = await reactivateOnce(accountId, eventName);
        if (result !== 'retry') return result === 'nothing' ? undefined : result;
      }
      throw new Error('The webhook changes too often just now: try again.');
    },
  };
}

/** The outcome of an operator's command: the webhook after that, or that none is registered. */
type OperatorChange =
  | { readonly outcome: 'changed'; readonly webhook: Webhook }
  | { readonly outcome: 'not_registered' };

function holdIn(item: Item): Hold {
  return {
    accountId: String(item.accountId),
    eventName: item.eventName as EventName,
    since: Number(item.updatedAt),
  };
}

/** Pages of 1 MiB: some 700 webhooks each. */
const mostTroubledPages = 10;

/** How often a reactivation is tried while the account registers and deletes the same webhook. */
const maxReactivationTries = 3;
