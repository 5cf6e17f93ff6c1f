import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Item, StoreParts } from '../../platform/aws/dynamo.ts';
import { keysUntil } from './delivery-item.ts';
import { headPart } from './head-key.ts';

/*
 * Index `due` (dueShard, dueAt = `<time>#<id>`) has the pending deliveries. Its time is `sweepAt`, when the sweeper checks the
 * delivery. The attempt is due at `nextAttemptAt`. Each attempt's message is sent once, and resent if it is lost (at least once):
 *   - wait of up to 15 min: the message is sent, delayed, once the previous outcome is stored. The sweeper checks 2 min after the due
 *     time, and acts only if the message, or the process that should send it, was lost;
 *   - longer wait: the sweeper checks 1 min before the due time, and sends the message with the rest of the delay. First it claims the
 *     delivery. A conditional update sets `claimedUntil` to 2 min after the due time, so only one of two sweepers sends, and a later
 *     check finds a lost message. The entry stays, because moving it would cost two units. Sweeps read it in vain for at most 3 min.
 * An overdue delivery is resent after 4, 8, 16 … min, so that a backlog does not multiply. If the queue rejects it, the next sweep
 * resends it. The first overdue deliveries of a partition stay in the index, with `claimedUntil` set, so that each sweep sees by how much
 * they are overdue. For the others, `sweepAt` advances, so that few of them are read before they can be resent.
 */

/** An entry of the index. Because the index lags, read the item before you act on it. */
export interface DueEntry {
  readonly id: string;
  readonly dueShard: string;
  /** Starts with the time of the sweeper's check (`sweepAt`), not with the due time of the attempt. */
  readonly dueAt: string;
}

/** Creates the reader of index `due` of table `Deliveries`. Because the index lags, read an item before you act on it. */
export function makeDueIndex({ dynamo, table, now }: StoreParts) {
  return { due };

  /** Reads a page of the entries of a shard that the sweeper must check by now, oldest first. The page starts after an entry, if set. */
  async function due(shard: string, after?: DueEntry): Promise<DueEntry[]> {
    const answer = await dynamo(
      new QueryCommand({
        TableName: table,
        IndexName: 'due',
        KeyConditionExpression: 'dueShard = :shard AND dueAt <= :now',
        ExpressionAttributeValues: { ':shard': shard, ':now': keysUntil(now()) },
        Limit: duePage,
        ...(after && { ExclusiveStartKey: { ...after, part: headPart } }),
      }),
    );
    return (answer.Items ?? []).map(toEntry);
  }
}

/** The number of entries that the sweeper reads at once from a shard. */
const duePage = 100;

function toEntry({ id, dueShard, dueAt }: Item): DueEntry {
  return { id: String(id), dueShard: String(dueShard), dueAt: String(dueAt) };
}
