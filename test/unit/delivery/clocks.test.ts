import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';
import { simulate } from './simulation.ts';

describe('clocks that differ', () => {
  let dynalite: Dynalite;
  let world: Awaited<ReturnType<typeof simulate>>;
  beforeAll(async () => {
    dynalite = await startDynalite('Deliveries', 'Webhooks');
  });
  afterAll(() => dynalite.stop());
  beforeEach(async () => {
    world = await simulate(dynalite);
  });
  it.each([
    [500, 1],
    [501, 0],
  ])('an event whose queue’s clock is %i ms behind the registration’s is delivered %i times', async (behind, times) => {
    await world.register({ createdAt: world.clock.now() + behind });
    world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 1 });
    await world.settle();
    expect(world.posts).toHaveLength(times);
  });
});
