import type { ItemKey } from '../../platform/aws/dynamo.ts';

/**
 * The sort key of what table `Deliveries` holds under an id: a delivery's head, a replay, a count. Only a delivery has items
 * beside it, the answers of its receiver (`answer-item.ts`).
 */
export const headPart = 'head';

/** The key of the item that stands for an id. */
export function headKey(table: string, id: string): ItemKey {
  return { table, key: { id, part: headPart } };
}
