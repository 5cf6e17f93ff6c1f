import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { type Item, isWritten, type StoreParts } from '../../lambdas/platform/aws/dynamo.ts';
import { conditionOf, expression, updateItem } from '../../lambdas/platform/aws/update-item.ts';
import { announcementAttributes, changeWithoutAttempt } from '../../lambdas/webhooks/announcement.ts';
import { type EventName, type Webhook, webhookIn, webhookKey } from '../../lambdas/webhooks/webhook.ts';
import { makeWebhookStore, readItemsOf } from '../../lambdas/webhooks/webhook-store.ts';
import { type FoundItems, scanPages, scanTable } from './scan.ts';

/** An operator's suspension without a webhook. The next webhook starts suspended. `since` is in epoch milliseconds. */
export interface PendingSuspension {
  readonly accountId: string;
  readonly eventName: EventName;
  readonly since: number;
}

/** Creates the operators' store for the `Webhooks` table. `webhook-store.ts` describes suspensions. */
export function makeOperatorStore({ dynamo, table, now }: StoreParts) {
  const webhooks = makeWebhookStore({ dynamo, table });
  return { find, listOf, listAll, listUnhealthy, suspend, reactivate };

  async function find(accountId: string, eventName: EventName): Promise<Webhook | PendingSuspension | undefined> {
    const Key = webhookKey(accountId, eventName);
    const { Item } = await dynamo(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
    return Item && parseEntry(Item);
  }

  /** Lists an account's webhooks and suspensions without a webhook, sorted by event. */
  async function listOf(accountId: string): Promise<readonly (Webhook | PendingSuspension)[]> {
    const items = await readItemsOf(dynamo, table, accountId);
    return items.map(parseEntry);
  }

  /**
   * Lists all webhooks and all suspensions without a webhook, sorted by account and event.
   * @param onPage - receives the number of items read so far.
   */
  async function listAll(onPage: (read: number) => void): Promise<readonly (Webhook | PendingSuspension)[]> {
    const all = await scanTable(dynamo, { table, partitionKey: 'accountId', parse: parseEntry, onPage });
    const keyOf = ({ accountId, eventName }: Webhook | PendingSuspension) => `${accountId} ${eventName}`;
    return all.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  }

  /**
   * Lists the suspended and failing webhooks with a bounded scan of the table. An index would require an additional
   * write for each attempt to an unreliable receiver.
   */
  function listUnhealthy(): Promise<FoundItems<Webhook | PendingSuspension>> {
    const filter = {
      TableName: table,
      FilterExpression: '#status = :suspended OR attribute_exists(failingSince)',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':suspended': 'suspended' },
    };
    return scanPages(dynamo, filter, parseEntry, maxUnhealthyPages);
  }

  /**
   * Suspends a webhook in any state, or the next one to be registered, until an operator ends the suspension. A single
   * write ensures that an account cannot evade the suspension by registering its webhook again at the same time.
   */
  async function suspend(accountId: string, eventName: EventName): Promise<OperatorChange> {
    const time = now();
    const key = webhookKey(accountId, eventName);
    const announcement = announcementAttributes(changeWithoutAttempt('webhook.suspended', time, 'operator'), key);
    const update = {
      set: { status: 'suspended', suspensionReason: 'operator', updatedAt: time, ...announcement },
      when: expression`attribute_not_exists(suspensionReason) OR suspensionReason <> ${'operator'}`,
      returns: 'ALL_NEW',
    } as const;
    const suspended = await updateItem(dynamo, { table, key }, update);
    const webhook = suspended ? webhookIn(suspended) : await webhooks.find(accountId, eventName);
    return webhook ? { outcome: 'changed', webhook } : { outcome: 'not_registered' };
  }

  /** Ends any suspension and resets the failures. Returns `undefined` if neither a webhook nor a suspension exists. */
  async function reactivate(accountId: string, eventName: EventName): Promise<OperatorChange | undefined> {
    for (let tries = 0; tries < maxReactivationTries; tries++) {
      const result = await reactivateOnce(accountId, eventName);
      if (result !== 'retry') return result === 'nothing' ? undefined : result;
    }
    throw new Error('Other requests changed the webhook at the same time. Try again.');
  }

  async function reactivateOnce(
    accountId: string,
    eventName: EventName,
  ): Promise<OperatorChange | 'nothing' | 'retry'> {
    const webhook = await webhooks.reactivate(accountId, eventName, now(), true);
    if (webhook) return webhook.status === 'active' ? { outcome: 'changed', webhook } : 'retry';
    if (await deletePending(accountId, eventName)) return { outcome: 'not_registered' };
    return (await webhooks.find(accountId, eventName)) ? 'retry' : 'nothing';
  }

  /** Deletes a suspension without a webhook. Returns false if there is none. */
  async function deletePending(accountId: string, eventName: EventName): Promise<boolean> {
    const isPending = expression`suspensionReason = ${'operator'} AND attribute_not_exists(webhookId)`;
    const Key = webhookKey(accountId, eventName);
    const removal = dynamo(new DeleteCommand({ TableName: table, Key, ...conditionOf(isPending) }));
    return isWritten(removal, async () => (await find(accountId, eventName)) === undefined);
  }
}

/** The result of an operator's change, with the webhook if one is registered. */
type OperatorChange =
  | { readonly outcome: 'changed'; readonly webhook: Webhook }
  | { readonly outcome: 'not_registered' };

/** Parses an item as a webhook or as a suspension without a webhook. */
function parseEntry(item: Item): Webhook | PendingSuspension {
  const { accountId, eventName, updatedAt } = item;
  const suspension = { accountId: String(accountId), eventName: eventName as EventName, since: Number(updatedAt) };
  return webhookIn(item) ?? suspension;
}

/** The maximum number of 1 MiB pages, each with about 700 webhooks. */
const maxUnhealthyPages = 10;

/** The maximum number of tries if the account registers and deletes the webhook at the same time. */
const maxReactivationTries = 3;
