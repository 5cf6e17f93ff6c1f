import { type DynamoDBDocumentClient, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { batchGet } from '../../platform/batch-get.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import { conditionalWrite } from '../../platform/dynamo.ts';
import { countedAfter, refusalsKept, refusalWindow } from '../limits.ts';
import { taskAttributes } from '../store/delivery-item.ts';
import { type RefusalReason, refusalReason } from './refusal-notice.ts';

/*
 * Refused events by principal, reason and minute of the clock: item `refusals#<minute>#<reason>#<principal>` of table
 * `Deliveries`. `refused` is how many there were, in all functions together. It is a task of the sweeper from the start: what is
 * over the limit of notices is told by it after the minute, and `told` says how much of that was. A count that comes later than
 * that makes it a task again. So nothing that was counted is forgotten; after a crash it may be told twice.
 *
 * To count is one write without a condition, of one unit. The first of a minute costs another for index `due`.
 */

/** The prefix of these items' ids, which tells the sweeper what they are. */
export const refusalsPrefix = 'refusals';

/** What is counted together. */
export interface RefusedGroup {
  readonly principal: string;
  readonly reason: RefusalReason;
}

/** A minute's count of a group, as it is stored. */
type CountedRefusals = Readonly<z.infer<typeof countedRefusals>>;

/** The counts of refused events. */
export interface RefusalCounts {
  /**
   * Counts so many more in the present minute. Gives how many were counted before. A try that is repeated because its answer was
   * lost may count twice.
   */
  add(group: RefusedGroup, refused: number): Promise<number>;
  /** Reads consistently, by the item's id. */
  read(id: string): Promise<CountedRefusals | undefined>;
  /** Stores how many over the limit are told by now. The sweeper's task ends unless more were counted since it was read. */
  settle(counted: CountedRefusals, told: number): Promise<void>;
}

/** Makes the store over the table `Deliveries`. */
export function makeRefusalCounts({
  dynamo,
  table,
  now,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
}): RefusalCounts {
  return {
    async add({ principal, reason }, refused) {
      const beganAt = Math.floor(now() / refusalWindow) * refusalWindow;
      const endsAt = beganAt + refusalWindow;
      const id = `${refusalsPrefix}#${isoTime(beganAt)}#${reason}#${principal}`;
      const { dueShard, dueAt } = taskAttributes(id, endsAt + countedAfter);
      const { Attributes } = await update(id, {
        UpdateExpression: `SET principal = :principal, reason = :reason, beganAt = :beganAt, #ttl = :ttl,
          dueShard = if_not_exists(dueShard, :dueShard), dueAt = if_not_exists(dueAt, :dueAt) ADD refused :refused`,
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: {
          ':principal': principal,
          ':reason': reason,
          ':beganAt': beganAt,
          ':ttl': Math.ceil((endsAt + refusalsKept) / 1_000),
          ':dueShard': dueShard,
          ':dueAt': dueAt,
          ':refused': refused,
        },
        ReturnValues: 'UPDATED_NEW',
      });
      return Number(Attributes?.refused) - refused;
    },

    async read(id) {
      const [item] = await batchGet(dynamo, [{ table, key: { id } }]);
      return item && countedRefusals.parse(item);
    },

    async settle({ id, refused }, told) {
      const values = { ':told': told };
      const ended = update(id, {
        UpdateExpression: 'SET told = :told REMOVE dueShard, dueAt',
        ConditionExpression: 'refused = :refused',
        ExpressionAttributeValues: { ...values, ':refused': refused },
      });
      if (await conditionalWrite(ended)) return;
      const noted = update(id, {
        UpdateExpression: 'SET told = :told',
        ConditionExpression: 'attribute_exists(id)',
        ExpressionAttributeValues: values,
      });
      await conditionalWrite(noted);
    },
  };

  function update(id: string, change: Omit<UpdateCommandInput, 'TableName' | 'Key'>) {
    return dynamo.send(new UpdateCommand({ TableName: table, Key: { id }, ...change }));
  }
}

const countedRefusals = z.object({
  id: z.string(),
  principal: z.string(),
  reason: refusalReason,
  /** When its minute began. Milliseconds since the epoch. */
  beganAt: z.int(),
  refused: z.int(),
  told: z._default(z.int(), 0),
});
