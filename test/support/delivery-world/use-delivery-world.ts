import { beforeEach } from 'vitest';
import { type DeliveryWorld, makeDeliveryWorld } from './delivery-world.ts';

/** Delivery, with an active webhook. */
export let world: DeliveryWorld;

/** Has a world of its own made for each test of the suite. */
export function useDeliveryWorld(): void {
  beforeEach(beginWorld);
}

/** Begins another world, for a test that needs one in each of its rounds. */
export async function beginWorld(): Promise<void> {
  world = makeDeliveryWorld();
  await world.register();
}
