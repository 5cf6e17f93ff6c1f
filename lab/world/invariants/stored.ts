import { type Delivery, isDeliveryId } from '../../../lambdas/delivery/delivery.ts';
import { deliveryFromItem } from '../../../lambdas/delivery/store/delivery-item.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { WatchedTables } from '../watched-tables.ts';

/** Returns what stands in the table of deliveries now. */
export function storedItems(watched: WatchedTables): readonly Item[] {
  const latest = [...watched.changesOf('Deliveries').values()].map(changes => changes.at(-1)?.item);
  return latest.filter(item => item !== undefined);
}

/** Returns the deliveries that are stored now, by their ids. */
export function storedDeliveries(watched: WatchedTables): ReadonlyMap<string, Delivery> {
  const heads = storedItems(watched).filter(({ id, part }) => part === headPart && isDeliveryId(String(id)));
  return new Map(heads.map(head => [String(head.id), readDelivery(head)]));
}

/** Returns the delivery that an item is. Each is read once: a judge looks many times. */
export function readDelivery(item: Item): Delivery {
  const read = known.get(item) ?? deliveryFromItem(item);
  known.set(item, read);
  return read;
}

/** What was read lives as long as its item. */
const known = new WeakMap<Item, Delivery>();
