import { type Delivery, isDeliveryId } from '../../../lambdas/delivery/delivery.ts';
import { deliveryFromItem } from '../../../lambdas/delivery/store/delivery-item.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import type { WatchedTables } from '../watched-tables.ts';

/** Returns the currently stored deliveries, by id. */
export function storedDeliveries(watched: WatchedTables): ReadonlyMap<string, Delivery> {
  const deliveries = new Map<string, Delivery>();
  for (const changes of watched.changesOf('Deliveries').values()) {
    const item = changes.at(-1)?.item;
    if (item?.part !== headPart) continue;
    if (parsed.has(item) || isDeliveryId(String(item.id))) deliveries.set(String(item.id), readDelivery(item));
  }
  return deliveries;
}

/** Returns the delivery in an item. Parses each item only once, because invariants read items often. */
export function readDelivery(item: Item): Delivery {
  const delivery = parsed.get(item) ?? deliveryFromItem(item);
  parsed.set(item, delivery);
  return delivery;
}

const parsed = new WeakMap<Item, Delivery>();
