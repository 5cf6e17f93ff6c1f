import type { ItemKey } from '../../platform/aws/dynamo.ts';

/**
 * The sort key of the main item of an id in table `Deliveries`: a delivery's head, a replay, a count. Other sort keys are those of a
 * delivery's answers (`answer-item.ts`) and of a webhook's past replays (`replay-store.ts`).
 */
export const headPart = 'head';

/** Returns the key of the main item of an id. */
export function headKey(table: string, id: string): ItemKey {
  return { table, key: { id, part: headPart } };
}
