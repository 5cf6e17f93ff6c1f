import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Item, StoreParts } from '../../platform/aws/dynamo.ts';
import { keysUntil } from './delivery-item.ts';
import { headPart } from './head-key.ts';

/*
 * The `due` index (dueShard, dueAt = `<time>#<id>`) contains the pending deliveries. The time is `sweepAt`, at which the sweeper checks the
 * delivery. The attempt is due at `nextAttemptAt`. Each attempt's message is sent once, and resent if it is lost (at least once):
 *   - For a wait of up to 15 min, the consumer sends a delayed message once the previous outcome is stored. The sweeper checks 2 min after
 *     the due time, and acts only if the message, or the process that should have sent it, was lost.
 *   - For a longer wait, the sweeper checks 1 min before the due time, claims the delivery, and sends the message with the remaining delay.
 *     The claim is a conditional update that sets `claimedUntil` to 2 min after the due time. Only one of two sweepers can claim, and a
 *     later check detects a lost message. The entry is not moved, because a move costs two write units. Sweeps reread it for at most 3 min.
 * The sweeper resends an overdue delivery after 4, 8, 16 … min, so a backlog does not multiply. If the queue rejects the message, the next
 * sweep resends it. The first overdue deliveries of a partition stay at the same position with `claimedUntil` set, so each sweep measures
 * by how much they are overdue. For the others, `sweepAt` advances, so sweeps read few of them before they can be resent.
 */

export interface DueEntry {
  readonly id: string;
  readonly dueShard: string;
  /** The sort key, which starts with the sweeper's check time (`sweepAt`), not with the attempt's due time. */
  readonly dueAt: string;
}

/** Creates the `due` index reader. Because the index lags, read an item before you act on it. */
export function makeDueIndex({ dynamo, table, now }: StoreParts) {
  return { due };

  /** Reads a page of a shard's due entries, oldest first. The page starts after `after`, if set. */
  async function due(shard: string, after?: DueEntry): Promise<DueEntry[]> {
    const output = await dynamo(
      new QueryCommand({
        TableName: table,
        IndexName: 'due',
        KeyConditionExpression: 'dueShard = :shard AND dueAt <= :now',
        ExpressionAttributeValues: { ':shard': shard, ':now': keysUntil(now()) },
        Limit: duePage,
        ...(after && { ExclusiveStartKey: { ...after, part: headPart } }),
      }),
    );
    return (output.Items ?? []).map(toEntry);
  }
}

const duePage = 100;

function toEntry({ id, dueShard, dueAt }: Item): DueEntry {
  return { id: String(id), dueShard: String(dueShard), dueAt: String(dueAt) };
}
