import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';
import { answer } from './builders.ts';
import { simulate } from './simulation.ts';

let dynalite: Dynalite;
let world: Awaited<ReturnType<typeof simulate>>;
beforeAll(async () => {
  dynalite = await startDynalite('Deliveries', 'Webhooks');
});
afterAll(() => dynalite.stop());
beforeEach(async () => {
  world = await simulate(dynalite);
  await world.register();
  world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7 });
});

const announcement = { account: 'conta-1', event: 'demanda.criada', reason: 'gone', at: '2026-11-20T12:00:00.000Z' };

describe('a suspension', () => {
  it('is announced once, with its reason', async () => {
    world.answers.push(answer(410));
    await world.settle();
    expect(world.announced).toEqual([announcement]);
    world.clock.advance(3_600_000);
    await world.sweep();
    expect(world.announced).toHaveLength(1);
  });

  it.each(Array.from({ length: 12 }, (_, call) => [call % 6, call >= 6] as const))(
    'that dies at call %i (after its effect: %s) is announced if and only if it was made',
    async (afterCalls, hasEffect) => {
      world.answers.push(answer(410), answer(500), answer(500), answer(500), answer(500));
      await world.deliverNext({ afterCalls, hasEffect });
      const suspended = (await world.webhook())?.status === 'suspenso';
      world.clock.advance(60_000);
      await world.sweep();
      expect(world.announced).toEqual(suspended ? [announcement] : []);
    },
  );

  it.each([0, 1, 2, 3, 4])(
    'is announced at least once though the sweeper dies at its call %i',
    async afterSweepCalls => {
      world.answers.push(answer(410));
      await world.deliverNext();
      world.clock.advance(60_000);
      // the sixteen shards of the index come first
      await world.sweep({ afterCalls: 16 + afterSweepCalls, hasEffect: true });
      world.clock.advance(60_000);
      await world.sweep();
      expect(world.announced.length).toBeGreaterThanOrEqual(1);
      expect(world.announced.length).toBeLessThanOrEqual(2);
      expect(world.announced[0]).toEqual(announcement);
    },
  );

  it('that was ended meanwhile, or is another registration’s, is not announced', async () => {
    for (const changes of [{}, { webhookId: 'webhook-2', status: 'suspenso', suspensionReason: 'gone' } as const]) {
      world.answers.push(answer(410));
      await world.deliverNext();
      await world.register(changes);
      world.clock.advance(60_000);
      await world.sweep();
      expect(world.announced).toEqual([]);
      world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 8 });
    }
  });

  it('by an operator is not: operators know', async () => {
    world.answers.push(answer(410));
    await world.deliverNext();
    await world.register({ status: 'suspenso', suspensionReason: 'operador' });
    await world.settle();
    expect(world.announced).toEqual([]);
  });
});
