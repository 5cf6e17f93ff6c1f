import { secretUseKeys } from '../../lambdas/auth/principals/secret-use.ts';
import { credentialKey, type User } from '../../lambdas/auth/principals/user.ts';
import { parseSession, type Session, sessionKey } from '../../lambdas/auth/sessions/session.ts';
import { limitIdsOf } from '../../lambdas/delivery/api/request-limits.ts';
import { replaysId } from '../../lambdas/delivery/replay/replay-store.ts';
import { listShardsOf } from '../../lambdas/delivery/store/delivery-item.ts';
import { headKey } from '../../lambdas/delivery/store/head-key.ts';
import { batchDelete } from '../../lambdas/platform/aws/batch-delete.ts';
import { QueryCommand, type QueryCommandOutput } from '../../lambdas/platform/aws/documents.ts';
import type { Item, ItemKey } from '../../lambdas/platform/aws/dynamo.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import { slownessId } from '../../lambdas/webhooks/slow-since.ts';
import { EVENT_NAMES, webhookKey } from '../../lambdas/webhooks/webhook.ts';
import { connectDynamo, openClients, openUsers } from './stores.ts';
import { requireOutput, type Target } from './target.ts';

/** All that the tables hold of an account. Lists are read as they are needed; nothing keeps a long one in memory. */
export function openAccountData(target: Target, account: string) {
  const dynamo = connectDynamo(target);
  const table = (name: string) => requireOutput(target, `${name}Table`);
  return {
    users: () => openUsers(target).listUsers({ account }),
    clients,
    sessionsOf,
    deliveryIds,
    itemsOf,
    deliveryKeys,
    ownKeys,
    clientKeys,
    credentialKeys,
    sessionKeys,
    remove: (keys: AsyncIterable<ItemKey> | Iterable<ItemKey>, onDeleted?: (count: number) => void) =>
      batchDelete(dynamo, keys, onDeleted),
  };

  /** Lists the clients that log in users of this account only. */
  async function clients() {
    return (await openClients(target).listClients()).filter(({ accountId }) => accountId === account);
  }

  async function* sessionsOf({ userId }: User): AsyncGenerator<Session> {
    for await (const item of query('Sessions', { names: { '#key': 'userId' }, value: userId })) {
      const session = parseSession(item);
      if (session) yield session;
    }
  }

  /** Lists the ids of all deliveries, tests too, by the index that each of them stands in for as long as it is kept. */
  async function* deliveryIds(): AsyncGenerator<string> {
    for (const eventName of EVENT_NAMES) {
      for (const shard of [true, false].flatMap(isDelivered => listShardsOf(account, eventName, isDelivered))) {
        const entries = query('Deliveries', { index: 'byWebhook', names: { '#key': 'listShard' }, value: shard });
        for await (const { id } of entries) yield String(id);
      }
    }
  }

  /** Lists the items under an id of table `Deliveries`. */
  async function itemsOf(id: string): Promise<readonly Item[]> {
    const items: Item[] = [];
    for await (const item of query('Deliveries', { names: { '#key': 'id' }, value: id })) items.push(item);
    return items;
  }

  /** Lists the keys of all deliveries that are there, with their answers: an index may name some that are gone. */
  async function* deliveryKeys(): AsyncGenerator<ItemKey> {
    for await (const ids of inBatches(deliveryIds(), readsAtOnce)) {
      for (const items of await Promise.all(ids.map(itemsOf))) {
        for (const { id, part } of items) yield { table: table('Deliveries'), key: { id, part } };
      }
    }
  }

  /** Lists what belongs to the account itself: its webhooks, their replays, slowness and counts. */
  async function* ownKeys(): AsyncGenerator<ItemKey> {
    for (const eventName of EVENT_NAMES) {
      const owner = { accountId: account, eventName };
      yield { table: table('Webhooks'), key: webhookKey(account, eventName) };
      yield headKey(table('Deliveries'), slownessId(owner));
      yield* keysOf(replaysId(owner));
    }
    for (const id of limitIdsOf(account, EVENT_NAMES)) yield headKey(table('Deliveries'), id);
  }

  async function* clientKeys(): AsyncGenerator<ItemKey> {
    for (const client of await clients()) {
      yield* secretUseKeys(table('Lockouts'), client);
      yield { table: table('Clients'), key: { clientId: client.clientId } };
    }
  }

  async function* sessionKeys(user: User): AsyncGenerator<ItemKey> {
    for await (const { sessionId } of sessionsOf(user)) yield sessionKey(table('Sessions'), sessionId);
  }

  function credentialKeys({ email, formerEmail }: User): readonly ItemKey[] {
    const emails = [email, formerEmail].filter(address => address !== undefined);
    return emails.map(address => credentialKey(table('Credentials'), address));
  }

  async function* keysOf(id: string): AsyncGenerator<ItemKey> {
    for (const { part } of await itemsOf(id)) yield { table: table('Deliveries'), key: { id, part } };
  }

  async function* query(
    name: string,
    {
      index,
      names,
      value,
    }: { readonly index?: string; readonly names: Record<'#key', string>; readonly value: string },
  ): AsyncGenerator<Item> {
    let from: Item | undefined;
    do {
      const page: QueryCommandOutput = await dynamo.send(
        new QueryCommand({
          TableName: table(name),
          ...(index === undefined ? { ConsistentRead: true } : { IndexName: index }),
          KeyConditionExpression: '#key = :value',
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: { ':value': value },
          ExclusiveStartKey: from,
        }),
      );
      yield* page.Items ?? [];
      from = page.LastEvaluatedKey;
    } while (from);
  }
}

const readsAtOnce = 32;
