import type { ItemKey } from '../../platform/aws/dynamo.ts';

/**
 * The sort key of what table `Deliveries` holds under an id: a delivery's head, a replay, a count. Next to it
 * stand a delivery's answers (`answer-item.ts`) and a webhook's past replays (`replay-store.ts`).
 */
export const headPart = 'head';

/** The key of the item of an id. */
export function headKey(table: string, id: string): ItemKey {
  return { table, key: { id, part: headPart } };
}
