import { describe, expect, it } from 'vitest';
import { dueShards, itemFromDelivery } from '../../../lambdas/delivery/delivery-item.ts';
import { deliveryIdOf } from '../../../lambdas/delivery/event.ts';
import { aDelivery } from './builders.ts';

describe('the items of deliveries', () => {
  it('are spread over all partitions of both indexes: one would throttle a hot account', () => {
    const wait = { nextAttemptAt: 1, lookAt: 1, pickups: 0 };
    const items = Array.from({ length: 500 }, (_, at) =>
      itemFromDelivery(aDelivery({ id: deliveryIdOf('conta-1', 'demanda.criada', String(at)), wait }), 30),
    );
    expect(new Set(items.map(({ dueShard }) => dueShard)).size).toBe(16);
    expect(new Set(items.map(({ listShard }) => listShard)).size).toBe(8);
    expect(dueShards).toHaveLength(16);
  });
});
