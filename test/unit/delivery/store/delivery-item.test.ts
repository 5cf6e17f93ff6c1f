import { describe, expect, it } from 'vitest';
import { settled } from '../../../../lambdas/delivery/delivery.ts';
import { deliveryIdOf } from '../../../../lambdas/delivery/intake/event.ts';
import { contentsOfStateShard, dueShards, itemFromDelivery } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { aDelivery, noon } from '../builders.ts';

describe('the items of deliveries', () => {
  it('are spread over the partitions of index `due`: one would throttle where every event fails', () => {
    const wait = { nextAttemptAt: 1, sweepAt: 1, overdueCount: 0 };
    const items = Array.from({ length: 500 }, (_, at) =>
      itemFromDelivery(aDelivery({ id: deliveryIdOf('conta-1', 'demanda.criada', String(at)), wait })),
    );
    expect(new Set(items.map(({ dueShard }) => dueShard))).toEqual(new Set(dueShards));
  });

  // The quick path: each index entry is a write unit.
  it('stand in one index only when they are delivered', () => {
    const { listShard, ...item } = itemFromDelivery(settled(aDelivery(), 'delivered', noon));
    expect(listShard).toBe('conta-1#demanda.criada#delivered');
    expect(item).not.toHaveProperty('stateShard');
    expect(item).not.toHaveProperty('dueShard');
  });

  it.each(['failed', 'held', 'cancelled'] as const)('stand in their state’s part of an index: %s', state => {
    const { listShard, stateShard } = itemFromDelivery(settled(aDelivery(), state, noon));
    expect(listShard).toBe('conta-1#demanda.criada#undelivered');
    expect(stateShard).toBe(`conta-1#demanda.criada#${state}`);
    expect(contentsOfStateShard(String(stateShard))).toEqual({
      accountId: 'conta-1',
      eventName: 'demanda.criada',
      state,
    });
  });
});
