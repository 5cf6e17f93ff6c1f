import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { heldByStateShard, type UndeliveredState } from '../../lambdas/delivery/delivery-item.ts';
import type { ShowProgress } from './terminal.ts';

/** How many deliveries of a webhook are in a state. */
export interface UndeliveredCount {
  readonly accountId: string;
  readonly eventName: string;
  readonly state: UndeliveredState;
  readonly count: number;
  /** When the newest of their events was accepted. */
  readonly newestAcceptedAt: string;
}

/** Which are counted; all unless told otherwise. */
export interface UndeliveredQuery {
  readonly account?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: UndeliveredState | undefined;
}

/**
 * Counts what is not delivered, over all accounts, most first, in index `undelivered` of a table `Deliveries`: that holds
 * nothing else, some 5,000 in each page that is read. What is past its time counts until the table has removed it.
 */
export async function countUndelivered(
  { account, event, state }: UndeliveredQuery,
  { client, table }: { readonly client: DynamoDBDocumentClient; readonly table: string },
  progress: ShowProgress,
): Promise<UndeliveredCount[]> {
  const counts = new Map<string, UndeliveredCount>();
  let counted = 0;
  const request = { TableName: table, IndexName: 'undelivered', ProjectionExpression: 'stateShard, listKey' };
  for await (const { Items = [] } of paginateScan({ client }, request)) {
    for (const { stateShard, listKey } of Items) {
      const held = heldByStateShard(stateShard);
      const [acceptedAt = ''] = String(listKey).split('#');
      const name = [held.accountId, held.eventName, held.state].join('#');
      const { count = 0, newestAcceptedAt = '' } = counts.get(name) ?? {};
      const newest = newestAcceptedAt > acceptedAt ? newestAcceptedAt : acceptedAt;
      counts.set(name, { ...held, count: count + 1, newestAcceptedAt: newest });
    }
    counted += Items.length;
    progress(`Looked at ${counted} deliveries so far`);
  }
  return [...counts.values()]
    .filter(held => account === undefined || held.accountId === account)
    .filter(held => event === undefined || held.eventName === event)
    .filter(held => state === undefined || held.state === state)
    .toSorted((one, other) => other.count - one.count);
}
