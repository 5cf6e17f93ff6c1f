import { DeleteCommand, GetCommand, PutCommand, QueryCommand, type QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import { type Dynamo, type Item, isWritten, type StoreParts } from '../platform/aws/dynamo.ts';
import { conditionOf, expression, type ItemUpdate, updateItem } from '../platform/aws/update-item.ts';
import { announcing, unattempted } from './announcement.ts';
import { type EventName, type SigningSecret, type Webhook, webhookIn, webhookKey } from './webhook.ts';

export type WebhookStore = ReturnType<typeof makeWebhookStore>;

/**
 * Makes the store over the table `Webhooks`: partition `accountId`, range `eventName`, one item per registration.
 * An account's list is one query, and deliveries find theirs by the key that the event's message contains.
 *
 * An operator's suspension outlives the registration: without a registration the item holds `status` and `suspensionReason`.
 * That is no webhook (`webhookIn`), and the next registration keeps it. Since it is one item, one condition decides races between
 * an operator, a removal, a registration and the sweeper.
 *
 * Reads are consistent; `undefined` means that there is no such webhook.
 */
export function makeWebhookStore({ dynamo, table }: Omit<StoreParts, 'now'>) {
  return { create, find, list, replace, remove, replaceSecrets, reactivate, noteTest };

  /**
   * Returns the webhook as stored: suspended, if an operator suspended an earlier one and did not reactivate it. Returns
   * `undefined` when the account already has a webhook for this event.
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
      isOwn: stored => stored.webhookId === webhookId, // its receiver may have had it suspended within the repeat
    });
  }

  async function find(accountId: string, eventName: EventName): Promise<Webhook | undefined> {
    return webhookIn(await readItem(accountId, eventName));
  }

  /** Lists an account's webhooks, by event name. */
  async function list(accountId: string): Promise<readonly Webhook[]> {
    const items = await readItemsOf(dynamo, table, accountId);
    return items.map(webhookIn).filter(webhook => webhook !== undefined);
  }

  /**
   * Sets the URL and authorization of the webhook that was read. A different URL also ends a suspension, unless it is an operator's, and
   * forgets that the webhook was failing. Returns `undefined` when its registration, URL or state has changed since.
   */
  async function replace(
    read: Webhook,
    { url, encryptedAuthorization, updatedAt }: Replacement,
  ): Promise<Webhook | undefined> {
    const { accountId, eventName, webhookId, status, suspensionReason } = read;
    const isOtherUrl = !isSameUrl(read.url, url);
    const endsSuspension = isOtherUrl && status === 'suspended' && suspensionReason !== 'operator';
    return update(accountId, eventName, {
      set: {
        url,
        encryptedAuthorization,
        updatedAt,
        ...(isOtherUrl && resetHealth(updatedAt)),
        ...(endsSuspension && { ...active, ...reactivation(read, updatedAt) }),
      },
      when: expression`webhookId = ${webhookId} AND url = ${read.url} AND status = ${status}
        AND suspensionReason = ${suspensionReason}`,
    });
  }

  /**
   * Removes the registration that stands there when it is read, and no later one. An operator's suspension stays for the next one.
   * An announcement that is not published yet is dropped.
   *
   * @param only - the id of the registration, where an earlier try has read it already
   */
  async function remove(accountId: string, eventName: EventName, now: number, only?: string): Promise<Removal> {
    const item = await readItem(accountId, eventName);
    if (item?.webhookId === undefined) return 'not_registered';
    if (only !== undefined && item.webhookId !== only) return 'removed'; // by somebody else, before the one that stands there now
    const { webhookId, status, suspensionReason } = item;
    const Key = webhookKey(accountId, eventName);
    const hold = { ...Key, status, suspensionReason, updatedAt: now };
    const isAsRead = conditionOf(expression`webhookId = ${webhookId} AND suspensionReason = ${suspensionReason}`);
    const removal =
      suspensionReason === 'operator'
        ? dynamo(new PutCommand({ TableName: table, Item: hold, ...isAsRead }))
        : dynamo(new DeleteCommand({ TableName: table, Key, ...isAsRead }));
    const isGone = async () => (await find(accountId, eventName))?.webhookId !== webhookId;
    return (await isWritten(removal, isGone)) ? 'removed' : { contended: String(webhookId) };
  }

  /** Sets the secrets of the webhook that was read; false when its registration or secrets have changed since. */
  async function replaceSecrets(
    { accountId, eventName, webhookId, secrets: [current] }: Webhook,
    secrets: readonly SigningSecret[],
    updatedAt: number,
  ): Promise<boolean> {
    const isReplaced = await update(accountId, eventName, {
      set: { secrets, updatedAt },
      // Encryption never returns the same text twice: the current one identifies the list that was read.
      when: expression`webhookId = ${webhookId} AND secrets[0].encrypted = ${current?.encrypted ?? ''}`,
    });
    if (isReplaced) return true;
    const found = await find(accountId, eventName);
    return found?.webhookId === webhookId && found.secrets[0]?.encrypted === secrets[0]?.encrypted;
  }

  /**
   * Ends a suspension and forgets the receiver's failures; returns the webhook after that.
   *
   * @param byOperator - an operator's suspension is ended by operators alone.
   */
  async function reactivate(
    accountId: string,
    eventName: EventName,
    updatedAt: number,
    byOperator = false,
  ): Promise<Webhook | undefined> {
    const isSuspended = expression`attribute_exists(webhookId) AND status = ${'suspended'}`;
    const reactivated = await update(accountId, eventName, {
      set: { ...active, updatedAt, ...resetHealth(updatedAt), ...reactivation({ accountId, eventName }, updatedAt) },
      when: byOperator ? isSuspended : expression`${isSuspended} AND suspensionReason <> ${'operator'}`,
    });
    return reactivated ?? find(accountId, eventName);
  }

  /** Stores the time of a test, unless an operator suspended; returns the webhook after that. */
  async function noteTest(accountId: string, eventName: EventName, testedAt: number): Promise<Webhook | undefined> {
    const noted = await update(accountId, eventName, {
      set: { testedAt },
      when: expression`attribute_exists(webhookId) AND suspensionReason <> ${'operator'}`,
    });
    return noted ?? find(accountId, eventName);
  }

  async function readItem(accountId: string, eventName: EventName): Promise<Item | undefined> {
    const { Item } = await dynamo(
      new GetCommand({ TableName: table, Key: webhookKey(accountId, eventName), ConsistentRead: true }),
    );
    return Item;
  }

  /** Returns the webhook after the update; `undefined` when the condition does not hold. */
  async function update(
    accountId: string,
    eventName: EventName,
    change: Omit<ItemUpdate, 'returns'>,
  ): Promise<Webhook | undefined> {
    const key = webhookKey(accountId, eventName);
    return webhookIn(await updateItem(dynamo, { table, key }, { ...change, returns: 'ALL_NEW' }));
  }
}

/** Reads the items of an account consistently, by event name. */
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
const active = { status: 'active', suspensionReason: null } as const;

function reactivation({ accountId, eventName }: Pick<Webhook, 'accountId' | 'eventName'>, at: number): Item {
  return announcing(unattempted('webhook.reactivated', at, null), webhookKey(accountId, eventName));
}

/** Returns the changes that start a webhook's health afresh. */
function resetHealth(resetAt: number): Item {
  return { resetAt, failingSince: undefined, failingMark: undefined };
}

/** The new values of a replacement; times in milliseconds since the epoch. */
interface Replacement {
  readonly url: string;
  /** If absent, the stored one is removed: a new host never gets an old credential. */
  readonly encryptedAuthorization: string | undefined;
  readonly updatedAt: number;
}

/** The outcome of a removal. `contended`: nothing was removed, since another change came first; the id of what was to go. */
type Removal = 'removed' | 'not_registered' | { readonly contended: string };

/** Returns whether two URLs are equal (WHATWG URL section 4.6). */
function isSameUrl(one: string, other: string): boolean {
  return URL.parse(one)?.href === URL.parse(other)?.href;
}
