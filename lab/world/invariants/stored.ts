import { type Delivery, isDeliveryId } from '../../../lambdas/delivery/delivery.ts';
import { deliveryFromItem } from '../../../lambdas/delivery/store/delivery-item.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { WatchedTables } from '../watched-tables.ts';

/** Returns the deliveries that are stored now, by their ids. */
export function storedDeliveries(watched: WatchedTables): ReadonlyMap<string, Delivery> {
  const deliveries = new Map<string, Delivery>();
  for (const changes of watched.changesOf('Deliveries').values()) {
    const item = changes.at(-1)?.item;
    if (item?.part !== headPart) continue;
    if (known.has(item) || isDeliveryId(String(item.id))) deliveries.set(String(item.id), readDelivery(item));
  }
  return deliveries;
}

/** Returns the delivery in an item. Parses each item only once, because judges read it often. */
export function readDelivery(item: Item): Delivery {
  const read = known.get(item) ?? deliveryFromItem(item);
  known.set(item, read);
  return read;
}

/** Deliveries by their items. An entry lives as long as its item. */
const known = new WeakMap<Item, Delivery>();
