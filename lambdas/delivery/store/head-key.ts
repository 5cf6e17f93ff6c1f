import type { ItemKey } from '../../platform/aws/dynamo.ts';

/**
 * The sort key of the main item of an id in table `Deliveries`: a delivery's head, a replay, a count. Other sort keys belong to the
 * responses of a delivery (`answer-item.ts`) and to the past replays of a webhook (`replay-store.ts`).
 */
export const headPart = 'head';

/** Returns the key of the main item of an id. */
export function headKey(table: string, id: string): ItemKey {
  return { table, key: { id, part: headPart } };
}
