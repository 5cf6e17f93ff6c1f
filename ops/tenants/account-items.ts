import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { listShardOf } from '../../lambdas/delivery/store/delivery-item.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { EVENT_NAMES } from '../../lambdas/webhooks/webhook.ts';
import type { ShowProgress } from '../stage/operator.ts';
import { openClients, openUsers } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/** Reads what the tables hold of an account. */
export type AccountItems = ReturnType<typeof openAccountItems>;

/** Opens the lists of what the tables hold of an account. They are read as they are needed; nothing keeps a long one in memory. */
export function openAccountItems(target: Target, account: string, progress: ShowProgress = () => {}) {
  const table = (name: string) => requireOutput(target, `${name}Table`);
  return {
    account,
    table,
    listUsers: () => openUsers(target).listUsers({ account, onPage: read => progress(`Users read so far: ${read}`) }),
    /** Lists the clients that log in users of this account only. */
    listClients: () => {
      progress('Reading clients');
      return openClients(target).listClients({ account });
    },
    sessionsOf: (userId: string) => query('Sessions', { name: 'userId', value: userId }),
    deliveryIds,
    itemsOf,
  };

  /**
   * Lists the ids of all deliveries, tests too, by the index that each of them stands in for as long as it is kept.
   *
   * @param lists - which of each event's two lists to read, one after another: that of what is delivered, or of all others.
   */
  async function* deliveryIds(lists: readonly ('delivered' | 'others')[]): AsyncGenerator<string> {
    for (const eventName of EVENT_NAMES) {
      for (const shard of lists.map(list => listShardOf(account, eventName, list === 'delivered'))) {
        const entries = query('Deliveries', { index: 'byWebhook', name: 'listShard', value: shard });
        for await (const { id } of entries) yield String(id);
      }
    }
  }

  /** Lists the items under an id of table `Deliveries`. */
  async function itemsOf(id: string): Promise<readonly Item[]> {
    const items: Item[] = [];
    for await (const item of query('Deliveries', { name: 'id', value: id })) items.push(item);
    return items;
  }

  /** Queries a table, or an index of it, by its partition. */
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
