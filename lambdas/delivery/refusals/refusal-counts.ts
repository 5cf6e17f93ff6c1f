import * as z from 'zod/mini';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { DynamoDBDocumentClient } from '../../platform/aws/documents.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import { countedAfter, refusalsKept, refusalWindow } from '../limits.ts';
import { taskAttributes } from '../store/delivery-item.ts';
import { headKey } from '../store/head-key.ts';
import { type RefusalReason, refusalReason } from './refusal-notice.ts';

/*
 * Refused events by principal, reason and minute of the clock: item `refusals#<minute>#<reason>#<principal>` of table
 * `Deliveries`. `refused` is their number, in all functions together. It is a task of the sweeper from the start: after the
 * minute the sweeper tells of those over the limit of notices, and `told` is the number that it told of. A count that comes later
 * makes it a task again. So nothing that was counted is forgotten; after a crash it may be told twice.
 *
 * To count is one write without a condition, of one unit. The first of a minute costs another for index `due`.
 */

/** The prefix of these items' ids, which tells the sweeper what they are. */
export const refusalsPrefix = 'refusals';

/** The principal and the reason of refused events that are counted together. */
export interface RefusedGroup {
  readonly principal: string;
  readonly reason: RefusalReason;
}

/** A minute's count of a group, as it is stored. */
type CountedRefusals = Readonly<z.infer<typeof countedRefusals>>;

/** The counts of refused events. */
export type RefusalCounts = ReturnType<typeof makeRefusalCounts>;

/** Makes the store over the table `Deliveries`. */
export function makeRefusalCounts({
  dynamo,
  table,
  now,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
}) {
  return { add, read, settle };

  /**
   * Counts more refused events in the present minute. Returns how many were counted before. A try that is repeated because its
   * answer was lost may count twice.
   */
  async function add({ principal, reason }: RefusedGroup, refused: number): Promise<number> {
    const beganAt = Math.floor(now() / refusalWindow) * refusalWindow;
    const endsAt = beganAt + refusalWindow;
    const id = `${refusalsPrefix}#${isoTime(beganAt)}#${reason}#${principal}`;
    const { dueShard, dueAt } = taskAttributes(id, endsAt + countedAfter);
    const counted = await updateItem(dynamo, headKey(table, id), {
      set: {
        principal,
        reason,
        beganAt,
        ttl: Math.ceil((endsAt + refusalsKept) / 1_000),
        dueShard: expression`if_not_exists(dueShard, ${dueShard})`,
        dueAt: expression`if_not_exists(dueAt, ${dueAt})`,
        refused: expression`if_not_exists(refused, ${0}) + ${refused}`,
      },
      returns: 'UPDATED_NEW',
    });
    return Number(counted?.refused) - refused;
  }

  /** Reads consistently, by the item's id. */
  async function read(id: string): Promise<CountedRefusals | undefined> {
    const [item] = await batchGet(dynamo, [headKey(table, id)]);
    return item && countedRefusals.parse(item);
  }

  /** Stores how many over the limit are told by now. The sweeper's task ends unless more were counted since it was read. */
  async function settle({ id, refused }: CountedRefusals, told: number): Promise<void> {
    const ended = await updateItem(dynamo, headKey(table, id), {
      set: { told, dueShard: undefined, dueAt: undefined },
      when: expression`refused = ${refused}`,
    });
    if (!ended) await updateItem(dynamo, headKey(table, id), { set: { told }, when: expression`attribute_exists(id)` });
  }
}

const countedRefusals = z.object({
  id: z.string(),
  principal: z.string(),
  reason: refusalReason,
  /** The moment when its minute began. Milliseconds since the epoch. */
  beganAt: z.int(),
  refused: z.int(),
  told: z._default(z.int(), 0),
});
