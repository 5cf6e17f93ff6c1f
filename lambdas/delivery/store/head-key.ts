import type { ItemKey } from '../../platform/aws/dynamo.ts';

/**
 * The sort key of the main item of an id in table `Deliveries`, such as the head of a delivery, a replay or a count. Only responses
 * (`response-item.ts`) and past replays (`replay-store.ts`) have other sort keys.
 */
export const headPart = 'head';

export function headKey(table: string, id: string): ItemKey {
  return { table, key: { id, part: headPart } };
}
