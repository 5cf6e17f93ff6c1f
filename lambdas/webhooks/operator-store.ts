import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { type Item, isConditionFailed } from '../platform/dynamo.ts';
import { type Announcement, updateAnnouncing } from './announcement.ts';
import { type EventName, type Webhook, webhookIn, webhookKey } from './webhook.ts';
import { makeWebhookStore } from './webhook-store.ts';

/** An operator's suspension where no webhook is registered: the next one begins suspended. Milliseconds since the epoch. */
export interface Hold {
  readonly accountId: string;
  readonly eventName: EventName;
  readonly since: number;
}

/** What operators do with the webhooks of any account. */
export interface OperatorStore {
  find(accountId: string, eventName: EventName): Promise<Webhook | Hold | undefined>;
  /** All webhooks, and suspensions without one, by account and event. */
  listAll(): Promise<readonly (Webhook | Hold)[]>;
  /** Suspends a webhook, whatever its state, or whatever will be registered: only an operator ends that. */
  suspend(accountId: string, eventName: EventName): Promise<OperatorChange>;
  /** Ends any suspension and forgets the receiver's health. Nothing: there is neither a webhook nor a suspension. */
  reactivate(accountId: string, eventName: EventName): Promise<OperatorChange | undefined>;
}

/** What the store is made of. */
export interface OperatorStoreDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly now: Clock;
}

/** Makes the operators' view of table `Webhooks`; no function has it. `webhook-store.ts` tells how suspensions are kept. */
export function makeOperatorStore({ dynamo, tableName, now }: OperatorStoreDependencies): OperatorStore {
  const { find: findWebhook } = makeWebhookStore({ dynamo, tableName });

  const whether = async <Result>(write: Promise<Result>): Promise<Result | undefined> => {
    try {
      return await write;
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

  /** Gives the item as it is then; nothing where the condition does not hold. */
  const update = async (
    accountId: string,
    eventName: EventName,
    change: { readonly update: string; readonly when: string; readonly values: Item; readonly told: Announcement },
  ): Promise<Item | undefined> => {
    const { told, ...written } = change;
    const answer = await whether(
      updateAnnouncing(dynamo, {
        ...written,
        table: tableName,
        key: webhookKey(accountId, eventName),
        names: { '#status': 'status' },
        announcement: told,
        now: told.since,
      }),
    );
    return answer?.Attributes;
  };

  const scan = async (): Promise<Item[]> => {
    const items: Item[] = [];
    let from: Item | undefined;
    do {
      const page = await dynamo.send(
        new ScanCommand({ TableName: tableName, ConsistentRead: true, ExclusiveStartKey: from }),
      );
      items.push(...(page.Items ?? []));
      from = page.LastEvaluatedKey;
    } while (from);
    return items;
  };

  const listAll: OperatorStore['listAll'] = async () => {
    const all = (await scan()).map(item => webhookIn(item) ?? holdIn(item));
    const keyOf = ({ accountId, eventName }: Webhook | Hold) => `${accountId} ${eventName}`;
    return all.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  };

  /** One write, whatever is registered: an account that deletes and registers meanwhile does not outrun it. */
  const suspend: OperatorStore['suspend'] = async (accountId, eventName) => {
    const moment = now();
    const told = { type: 'webhook.suspended', since: moment, reason: 'operator', lastResult: null } as const;
    const suspended = await update(accountId, eventName, {
      update: 'SET #status = :suspended, suspensionReason = :operator, updatedAt = :now',
      when: 'attribute_not_exists(suspensionReason) OR suspensionReason <> :operator',
      values: { ':suspended': 'suspended', ':operator': 'operator', ':now': moment },
      told,
    });
    const webhook = suspended ? webhookIn(suspended) : await findWebhook(accountId, eventName);
    return webhook ? { outcome: 'changed', webhook } : { outcome: 'not_registered' };
  };

  const reactivateOnce = async (
    accountId: string,
    eventName: EventName,
  ): Promise<OperatorChange | 'nothing' | 'again'> => {
    const moment = now();
    const told = { type: 'webhook.reactivated', since: moment, reason: null, lastResult: null } as const;
    const reactivated = await update(accountId, eventName, {
      update: 'SET #status = :active, suspensionReason = :none, updatedAt = :now REMOVE failingSince, failingMark',
      when: 'attribute_exists(webhookId) AND #status = :suspended',
      values: { ':active': 'active', ':none': null, ':suspended': 'suspended', ':now': moment },
      told,
    });
    const webhook = webhookIn(reactivated);
    if (webhook) return { outcome: 'changed', webhook };
    const found = await findWebhook(accountId, eventName);
    if (found) return found.status === 'active' ? { outcome: 'changed', webhook: found } : 'again';
    const endHold = new DeleteCommand({
      TableName: tableName,
      Key: webhookKey(accountId, eventName),
      ConditionExpression: 'attribute_exists(eventName) AND attribute_not_exists(webhookId)',
    });
    if (await whether(dynamo.send(endHold))) return { outcome: 'not_registered' };
    return (await findWebhook(accountId, eventName)) ? 'again' : 'nothing';
  };

  return {
    find: async (accountId, eventName) => {
      const Key = webhookKey(accountId, eventName);
      const { Item } = await dynamo.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
      return webhookIn(Item) ?? (Item && holdIn(Item));
    },
    listAll,
    suspend,
    reactivate: async (accountId, eventName) => {
      for (let tried = 0; tried < reactivationTries; tried++) {
        const result = await reactivateOnce(accountId, eventName);
        if (result !== 'again') return result === 'nothing' ? undefined : result;
      }
      throw new Error('The webhook changes too often just now: try again.');
    },
  };
}

/** What an operator's command came to: the webhook as it is then, or that none is registered. */
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

/** How often a reactivation is tried while the account registers and deletes the same webhook. */
const reactivationTries = 3;
