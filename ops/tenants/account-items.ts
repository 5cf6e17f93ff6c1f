import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { listShardOf } from '../../lambdas/delivery/store/delivery-item.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import type { ShowProgress } from '../stage/operator.ts';
import { openClients, openUsers } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/** The lists of an account's items in the tables. */
export type AccountItems = ReturnType<typeof openAccountItems>;

/** Opens the lists of an account's items. The lists are read on demand. */
export function openAccountItems(target: Target, account: string, progress: ShowProgress = () => {}) {
  const table = (name: string) => requireOutput(target, `${name}Table`);
  return {
    account,
    table,
    listUsers: () => openUsers(target).listUsers({ account, onPage: read => progress(`Users read so far: ${read}`) }),
    /** Lists the clients that are bound to this account. */
    listClients: () => {
      progress('Reading clients');
      return openClients(target).listClients({ account });
    },
    sessionsOf: (userId: string) => query('Sessions', { name: 'userId', value: userId }),
    deliveryIds,
    itemsOf,
  };

  /**
   * Lists the ids of all stored deliveries, including tests.
   * @param lists - the lists to read for each event, in this order. `others` contains the undelivered deliveries.
   */
  async function* deliveryIds(lists: readonly ('delivered' | 'others')[]): AsyncGenerator<string> {
    for (const eventName of EVENT_NAMES) {
      for (const shard of lists.map(list => listShardOf(account, eventName, list === 'delivered'))) {
        const entries = query('Deliveries', { index: 'byWebhook', name: 'listShard', value: shard });
        for await (const { id } of entries) yield String(id);
      }
    }
  }

  /** Lists the items with an id in the `Deliveries` table. */
  async function itemsOf(id: string): Promise<readonly Item[]> {
    const items: Item[] = [];
    for await (const item of query('Deliveries', { name: 'id', value: id })) items.push(item);
    return items;
  }

  /** Queries a partition of a table or of its index. */
  async function* query(
    of: string,
    { index, name, value }: { readonly index?: string; readonly name: string; readonly value: string },
  ): AsyncGenerator<Item> {
    const request = {
      TableName: table(of),
      ...(index === undefined ? { ConsistentRead: true } : { IndexName: index }),
      KeyConditionExpression: '#key = :value',
      ExpressionAttributeNames: { '#key': name },
      ExpressionAttributeValues: { ':value': value },
    };
    for await (const { Items = [] } of paginateQuery({ client: target.documents() }, request)) yield* Items;
  }
}
