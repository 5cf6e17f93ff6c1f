import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Item, StoreParts } from '../../platform/aws/dynamo.ts';
import { keysUntil } from './delivery-item.ts';
import { headPart } from './head-key.ts';

/*
 * Index `due` (dueShard, dueAt = `<time>#<id>`) holds the pending deliveries. Its time is `sweepAt`, when the sweeper looks at the delivery; the attempt itself is due at
 * `nextAttemptAt`. So each attempt's message is sent once, and none is lost (at least once):
 *   - a wait of up to 15 min: the message is sent, delayed, once the outcome before it is stored. The sweeper looks 2 min
 *     after it was due, and finds nothing unless that message, or the process sending it, was lost;
 *   - a longer wait: nothing is sent. The sweeper looks 1 min before it is due, and sends the message with the rest of
 *     the delay. It first sets `claimedUntil` to 2 min after the due time, by a conditional update, which is its claim: of two
 *     sweepers one sends, and what is lost between claim and sending is found then. The entry stays where it is meanwhile:
 *     to move it would cost two units, and it is read in vain for three minutes at most.
 * An overdue delivery is sent again after 4, 8, 16 … min, so that a backlog is not multiplied; what the queue did not take, in the next
 * sweep. The first ones of a partition keep their place in the index meanwhile, with `claimedUntil` set, so that each sweep sees how
 * late they are. Of the others `sweepAt` moves on: however many there are, a sweep reads few of them in vain.
 */

/** An entry that the sweeper finds in the index. Its item must be read before it is acted on, since the index lags. */
export interface DueEntry {
  readonly id: string;
  readonly dueShard: string;
  /** Begins with the time of the sweeper's look (`sweepAt`), not with the time when the attempt is due. */
  readonly dueAt: string;
}

/** Creates the reader of index `due` of table `Deliveries`. An index lags: what it names must be read before it is acted on. */
export function makeDueIndex({ dynamo, table, now }: StoreParts) {
  return { due };

  /** Reads a page of the entries of a shard that the sweeper must look at by now, the oldest first, after one of them. */
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

/** Entries that the sweeper reads at a time and shard. */
const duePage = 100;

function toEntry({ id, dueShard, dueAt }: Item): DueEntry {
  return { id: String(id), dueShard: String(dueShard), dueAt: String(dueAt) };
}
