import { DeleteCommand, GetCommand, QueryCommand, ScanCommand, type ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import { conditionalWrite, type Dynamo, type Item } from '../platform/aws/dynamo.ts';
import { conditionOf, expression, updateItem } from '../platform/aws/update-item.ts';
import type { Clock } from '../platform/clock.ts';
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
  /** The number of webhooks that were read to find them. */
  readonly read: number;
  /** True when there are more webhooks than were read. */
  readonly isCutOff: boolean;
}

/** Makes the operators' store over table `Webhooks`; only the ops tool uses it. `webhook-store.ts` explains suspensions. */
export function makeOperatorStore({
  dynamo,
  table,
  now,
}: {
  readonly dynamo: Dynamo;
  readonly table: string;
  readonly now: Clock;
}) {
  const webhooks = makeWebhookStore({ dynamo, table });
  return { find, listOf, listAll, listTroubled, suspend, reactivate };

  async function find(accountId: string, eventName: EventName): Promise<Webhook | Hold | undefined> {
    const Key = webhookKey(accountId, eventName);
    const { Item } = await dynamo(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
    return Item && entryIn(Item);
  }

  /** Lists an account's webhooks, and suspensions without one, by event. */
  async function listOf(accountId: string): Promise<readonly (Webhook | Hold)[]> {
    const registered = await dynamo(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'accountId = :accountId',
        ExpressionAttributeValues: { ':accountId': accountId },
      }),
    ); // one page: an account has at most one for each event
    return entriesIn(registered.Items);
  }

  /**
   * Lists all webhooks, and suspensions without one, by account and event.
   *
   * @param onPage - is told how many were read so far.
   */
  async function listAll(onPage: (read: number) => void): Promise<readonly (Webhook | Hold)[]> {
    const all: (Webhook | Hold)[] = [];
    let from: Item | undefined;
    do {
      const page: ScanCommandOutput = await dynamo(
        new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: from }),
      );
      all.push(...entriesIn(page.Items));
      onPage(all.length);
      from = page.LastEvaluatedKey;
    } while (from);
    const keyOf = ({ accountId, eventName }: Webhook | Hold) => `${accountId} ${eventName}`;
    return all.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  }

  /**
   * Lists the suspended and the failing webhooks among those that a bounded read of the table finds. Nothing but a scan finds
   * them: an index would be written with every attempt at a receiver that fails now and then.
   */
  async function listTroubled(): Promise<TroubledWebhooks> {
    const found: (Webhook | Hold)[] = [];
    let read = 0;
    let from: Item | undefined;
    for (let page = 0; page < mostTroubledPages; page++) {
      const answer: ScanCommandOutput = await dynamo(
        new ScanCommand({
          TableName: table,
          FilterExpression: '#status = :suspended OR attribute_exists(failingSince)',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':suspended': 'suspended' },
          ExclusiveStartKey: from,
        }),
      );
      found.push(...entriesIn(answer.Items));
      read += answer.ScannedCount ?? 0;
      from = answer.LastEvaluatedKey;
      if (!from) break;
    }
    return { found, read, isCutOff: from !== undefined };
  }

  /**
   * Suspends a webhook in any state, or the next one to be registered: only an operator ends that. One write, so that an account
   * cannot evade it by deleting and registering meanwhile.
   */
  async function suspend(accountId: string, eventName: EventName): Promise<OperatorChange> {
    const moment = now();
    const suspended = await update(accountId, eventName, {
      set: { status: 'suspended', suspensionReason: 'operator', updatedAt: moment },
      when: expression`attribute_not_exists(suspensionReason) OR suspensionReason <> ${'operator'}`,
      announcement: {
        type: 'webhook.suspended',
        since: moment,
        reason: 'operator',
        lastResult: null,
        deliveryId: null,
      },
    });
    const webhook = suspended ? webhookIn(suspended) : await webhooks.find(accountId, eventName);
    return webhook ? { outcome: 'changed', webhook } : { outcome: 'not_registered' };
  }

  /** Ends any suspension and forgets the receiver's failures. `undefined`: there is neither a webhook nor a suspension. */
  async function reactivate(accountId: string, eventName: EventName): Promise<OperatorChange | undefined> {
    for (let tries = 0; tries < maxReactivationTries; tries++) {
      const result = await reactivateOnce(accountId, eventName);
      if (result !== 'retry') return result === 'nothing' ? undefined : result;
    }
    throw new Error('The webhook changes too often just now: try again.');
  }

  async function reactivateOnce(
    accountId: string,
    eventName: EventName,
  ): Promise<OperatorChange | 'nothing' | 'retry'> {
    const moment = now();
    const reactivated = await update(accountId, eventName, {
      set: {
        status: 'active',
        suspensionReason: null,
        updatedAt: moment,
        failingSince: undefined,
        failingMark: undefined,
      },
      when: expression`attribute_exists(webhookId) AND status = ${'suspended'}`,
      announcement: { type: 'webhook.reactivated', since: moment, reason: null, lastResult: null, deliveryId: null },
    });
    const webhook = webhookIn(reactivated);
    if (webhook) return { outcome: 'changed', webhook };
    const found = await webhooks.find(accountId, eventName);
    if (found) return found.status === 'active' ? { outcome: 'changed', webhook: found } : 'retry';
    if (await endHold(accountId, eventName)) return { outcome: 'not_registered' };
    return (await webhooks.find(accountId, eventName)) ? 'retry' : 'nothing';
  }

  /** Ends a suspension that outlived its webhook. What is not announced yet stays in the item. False: there is none. */
  async function endHold(accountId: string, eventName: EventName): Promise<boolean> {
    const key = webhookKey(accountId, eventName);
    const isHold = expression`suspensionReason = ${'operator'} AND attribute_not_exists(webhookId)`;
    const removal = new DeleteCommand({
      TableName: table,
      Key: key,
      ...conditionOf(expression`${isHold} AND attribute_not_exists(announcements)`),
    });
    const findNone = async () => ((await find(accountId, eventName)) ? undefined : {});
    if (await conditionalWrite<object>(dynamo(removal), findNone)) return true;
    const set = { status: undefined, suspensionReason: undefined, updatedAt: undefined };
    return (await updateItem(dynamo, { table, key }, { set, when: isHold })) !== undefined;
  }

  /** Returns the item after the update; `undefined` when the condition does not hold. */
  function update(
    accountId: string,
    eventName: EventName,
    change: Pick<WebhookUpdate, 'set' | 'when' | 'announcement'>,
  ): Promise<Item | undefined> {
    return updateWebhook(dynamo, { ...change, table, key: webhookKey(accountId, eventName) });
  }
}

/** The outcome of an operator's command: the webhook after that, or that none is registered. */
type OperatorChange =
  | { readonly outcome: 'changed'; readonly webhook: Webhook }
  | { readonly outcome: 'not_registered' };

function entriesIn(items: readonly Item[] = []): (Webhook | Hold)[] {
  return items.map(entryIn).filter(entry => entry !== undefined);
}

/** Reads an item as a webhook or as a suspension without one. It may be neither: what is left of a removed webhook. */
function entryIn(item: Item): Webhook | Hold | undefined {
  const { accountId, eventName, status, updatedAt } = item;
  const hold = { accountId: String(accountId), eventName: eventName as EventName, since: Number(updatedAt) };
  return webhookIn(item) ?? (status === 'suspended' ? hold : undefined);
}

/** Pages of 1 MiB: some 700 webhooks each. */
const mostTroubledPages = 10;

/** The most times that a reactivation is tried while the account registers and deletes the same webhook. */
const maxReactivationTries = 3;
