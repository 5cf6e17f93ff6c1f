import { batchGet } from '../platform/aws/batch-get.ts';
import type { Dynamo } from '../platform/aws/dynamo.ts';
import type { EventName } from './webhook.ts';

/** The owner of a slowness. It is the event's, not the registration's: a new registration is as slow as the one before. */
export interface SlownessOwner {
  readonly accountId: string;
  readonly eventName: EventName;
}

/** The prefix of the ids of slowness in table `Deliveries`, which tells the sweeper what they are. */
export const slownessPrefix = 'slowness';

/** Returns the id of an owner's slowness in table `Deliveries`. */
export function slownessId({ accountId, eventName }: SlownessOwner): string {
  return `${slownessPrefix}#${accountId}#${eventName}`;
}

/**
 * Reads since when the attempts of events are made in the slow lane, in milliseconds since the epoch; `undefined` where they are
 * not. In the order of the owners, 100 at most.
 */
export type ReadSlowSince = (owners: readonly SlownessOwner[]) => Promise<readonly (number | undefined)[]>;

/** Makes the reader over table `Deliveries`. Delivery owns these items, and alone writes them. */
export function makeReadSlowSince(dynamo: Dynamo, table: string): ReadSlowSince {
  return async function readSlowSince(owners) {
    if (owners.length === 0) return [];
    const items = await batchGet(
      dynamo,
      owners.map(owner => ({ table, key: { id: slownessId(owner), part: 'head' } })), // as delivery's `headKey`
    );
    return items.map(item => (typeof item?.slowSince === 'number' ? item.slowSince : undefined));
  };
}
