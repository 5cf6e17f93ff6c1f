import { DeleteCommand, GetCommand, PutCommand, QueryCommand, type QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import { type Dynamo, type Item, isWritten, type StoreParts } from '../platform/aws/dynamo.ts';
import { conditionOf, expression, type ItemUpdate, updateItem } from '../platform/aws/update-item.ts';
import { announcementAttributes, changeWithoutAttempt } from './announcement.ts';
import { type EventName, type SigningSecret, type Webhook, webhookIn, webhookKey } from './webhook.ts';

export type WebhookStore = ReturnType<typeof makeWebhookStore>;

/**
 * Creates the store of the table `Webhooks`, with partition key `accountId`, sort key `eventName` and one item per registration. One query
 * lists the webhooks of an account. Deliveries read an item by the account and the event in the message.
 *
 * After a removal, an operator's suspension remains as an item without a `webhookId`. This item is not a webhook (see `webhookIn`), but it
 * suspends the next registration. A condition on the single item resolves races between an operator, a removal, a registration and the
 * sweeper. Reads are strongly consistent and return `undefined` if the webhook does not exist.
 */
export function makeWebhookStore({ dynamo, table }: Omit<StoreParts, 'now'>) {
  return { create, find, list, replace, remove, replaceSecrets, reactivate, recordTest };

  /**
   * Stores a webhook and returns it. The webhook is suspended if an operator's suspension of an earlier registration remains. Returns
   * `undefined` if the account already has a webhook for the event.
   */
  function create(webhook: Webhook): Promise<Webhook | undefined> {
    const { accountId, eventName, webhookId, status, suspensionReason, ...others } = webhook;
    return update(accountId, eventName, {
      set: {
        webhookId,
        ...others,
        status: expression`if_not_exists(status, ${status})`,
        suspensionReason: expression`if_not_exists(suspensionReason, ${suspensionReason})`,
      },
      when: expression`attribute_not_exists(webhookId)`,
      isOwn: stored => stored.webhookId === webhookId, // compares only the id, because the receiver may already have caused a suspension
    });
  }

  async function find(accountId: string, eventName: EventName): Promise<Webhook | undefined> {
    return webhookIn(await readItem(accountId, eventName));
  }

  /** Returns an account's webhooks, sorted by event name. */
  async function list(accountId: string): Promise<readonly Webhook[]> {
    const items = await readItemsOf(dynamo, table, accountId);
    return items.map(webhookIn).filter(webhook => webhook !== undefined);
  }

  /**
   * Sets the URL and the authorization of a webhook. A different URL also resets its health and ends any suspension except an operator's.
   * Returns `undefined` if the registration, URL or state has changed since the webhook was read.
   */
  async function replace(
    webhook: Webhook,
    { url, encryptedAuthorization, updatedAt }: Replacement,
  ): Promise<Webhook | undefined> {
    const { accountId, eventName, webhookId, status, suspensionReason } = webhook;
    const isOtherUrl = !isSameUrl(webhook.url, url);
    const endsSuspension = isOtherUrl && status === 'suspended' && suspensionReason !== 'operator';
    return update(accountId, eventName, {
      set: {
        url,
        encryptedAuthorization,
        updatedAt,
        ...(isOtherUrl && resetHealth(updatedAt)),
        ...(endsSuspension && { ...activeState, ...reactivation(webhook, updatedAt) }),
      },
      when: expression`webhookId = ${webhookId} AND url = ${webhook.url} AND status = ${status}
        AND suspensionReason = ${suspensionReason}`,
    });
  }

  /**
   * Removes the current registration and an unpublished announcement. Does not remove a registration that is stored after the read. An
   * operator's suspension remains for the next registration.
   *
   * @param expectedId - the id of the registration, if an earlier try has read it.
   */
  async function remove(accountId: string, eventName: EventName, now: number, expectedId?: string): Promise<Removal> {
    const item = await readItem(accountId, eventName);
    if (item?.webhookId === undefined) return 'not_registered';
    if (expectedId !== undefined && item.webhookId !== expectedId) return 'removed'; // a later registration replaced the removed one
    const { webhookId, status, suspensionReason } = item;
    const Key = webhookKey(accountId, eventName);
    const suspension = { ...Key, status, suspensionReason, updatedAt: now };
    const isUnchanged = conditionOf(expression`webhookId = ${webhookId} AND suspensionReason = ${suspensionReason}`);
    const removal =
      suspensionReason === 'operator'
        ? dynamo(new PutCommand({ TableName: table, Item: suspension, ...isUnchanged }))
        : dynamo(new DeleteCommand({ TableName: table, Key, ...isUnchanged }));
    const isGone = async () => (await find(accountId, eventName))?.webhookId !== webhookId;
    return (await isWritten(removal, isGone)) ? 'removed' : { remainingId: String(webhookId) };
  }

  /** Sets the secrets of a webhook. Returns false if its registration or secrets have changed since the read. */
  async function replaceSecrets(
    { accountId, eventName, webhookId, secrets: [current] }: Webhook,
    secrets: readonly SigningSecret[],
    updatedAt: number,
  ): Promise<boolean> {
    const isReplaced = await update(accountId, eventName, {
      set: { secrets, updatedAt },
      // Encryption never returns the same text twice, so the current encrypted secret identifies the list.
      when: expression`webhookId = ${webhookId} AND secrets[0].encrypted = ${current?.encrypted ?? ''}`,
    });
    if (isReplaced) return true;
    const latest = await find(accountId, eventName);
    return latest?.webhookId === webhookId && latest.secrets[0]?.encrypted === secrets[0]?.encrypted;
  }

  /**
   * Ends a suspension and resets the webhook's health. Returns the webhook after the change.
   *
   * @param byOperator - true for an operator. Only operators can end an operator's suspension.
   */
  async function reactivate(
    accountId: string,
    eventName: EventName,
    updatedAt: number,
    byOperator = false,
  ): Promise<Webhook | undefined> {
    const isSuspended = expression`attribute_exists(webhookId) AND status = ${'suspended'}`;
    const announcement = reactivation({ accountId, eventName }, updatedAt);
    const webhook = await update(accountId, eventName, {
      set: { ...activeState, updatedAt, ...resetHealth(updatedAt), ...announcement },
      when: byOperator ? isSuspended : expression`${isSuspended} AND suspensionReason <> ${'operator'}`,
    });
    return webhook ?? find(accountId, eventName);
  }

  /** Stores the time of a test, unless an operator suspended the webhook. Returns the webhook after the change. */
  async function recordTest(accountId: string, eventName: EventName, testedAt: number): Promise<Webhook | undefined> {
    const webhook = await update(accountId, eventName, {
      set: { testedAt },
      when: expression`attribute_exists(webhookId) AND suspensionReason <> ${'operator'}`,
    });
    return webhook ?? find(accountId, eventName);
  }

  async function readItem(accountId: string, eventName: EventName): Promise<Item | undefined> {
    const { Item } = await dynamo(
      new GetCommand({ TableName: table, Key: webhookKey(accountId, eventName), ConsistentRead: true }),
    );
    return Item;
  }

  /** Updates a webhook and returns it. Returns `undefined` if the condition is false. */
  async function update(
    accountId: string,
    eventName: EventName,
    change: Omit<ItemUpdate, 'returns'>,
  ): Promise<Webhook | undefined> {
    const key = webhookKey(accountId, eventName);
    return webhookIn(await updateItem(dynamo, { table, key }, { ...change, returns: 'ALL_NEW' }));
  }
}

/** Returns an account's items, sorted by event name. The read is strongly consistent. */
export async function readItemsOf(dynamo: Dynamo, table: string, accountId: string): Promise<Item[]> {
  const items: Item[] = [];
  let from: Item | undefined;
  do {
    const page: QueryCommandOutput = await dynamo(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'accountId = :accountId',
        ExpressionAttributeValues: { ':accountId': accountId },
        ExclusiveStartKey: from,
      }),
    );
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from);
  return items;
}

/** The state of a webhook that is not suspended. */
const activeState = { status: 'active', suspensionReason: null } as const;

function reactivation({ accountId, eventName }: Pick<Webhook, 'accountId' | 'eventName'>, at: number): Item {
  const change = changeWithoutAttempt('webhook.reactivated', at, null);
  return announcementAttributes(change, webhookKey(accountId, eventName));
}

function resetHealth(resetAt: number): Item {
  return { resetAt, failingSince: undefined, failingMark: undefined };
}

/** The new values of a replacement. Times are in milliseconds since the epoch. */
interface Replacement {
  readonly url: string;
  /** If undefined, the stored authorization is removed, so a new host never receives an old credential. */
  readonly encryptedAuthorization: string | undefined;
  readonly updatedAt: number;
}

/** The outcome of a removal. `remainingId` is the id of a registration that remains because a concurrent request changed it. */
type Removal = 'removed' | 'not_registered' | { readonly remainingId: string };

/** Returns whether two URLs are equal (WHATWG URL section 4.6). */
function isSameUrl(one: string, other: string): boolean {
  return URL.parse(one)?.href === URL.parse(other)?.href;
}
