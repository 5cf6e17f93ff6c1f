import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeAnnounce } from '../../../lambdas/delivery/announce.ts';
import { makeOperatorStore } from '../../../lambdas/webhooks/operator-store.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';
import { answer, noon } from './builders.ts';
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
});

const publish = () =>
  world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: `${Math.random()}` });
const day = 24 * 60 * 60_000;
const iso = (moment: number) => new Date(moment).toISOString();

const announcement = {
  type: 'webhook.suspended',
  accountId: 'conta-1',
  event: 'demanda.criada',
  webhookId: 'webhook-1',
  since: '2026-11-20T12:00:00.000Z',
  reason: 'gone',
  lastResult: 'http',
};

describe('a suspension', () => {
  it('is announced once, with its reason', async () => {
    world.answers.push(answer(410));
    publish();
    await world.settle();
    await world.announce();
    expect(world.announced).toEqual([announcement]);
    world.clock.advance(3_600_000);
    await world.announce();
    expect(world.announced).toHaveLength(1);
    expect(await world.webhook()).not.toHaveProperty('announcementShard');
  });

  it.each(Array.from({ length: 12 }, (_, call) => [call % 6, call >= 6] as const))(
    'that dies at call %i (after its effect: %s) is announced if and only if it was made',
    async (afterCalls, hasEffect) => {
      world.answers.push(answer(410));
      publish();
      await world.deliverNext({ afterCalls, hasEffect });
      const suspended = (await world.webhook())?.status === 'suspenso';
      await world.announce();
      expect(world.announced).toEqual(suspended ? [announcement] : []);
    },
  );

  it.each(Array.from({ length: 8 }, (_, call) => [call % 4, call >= 4] as const))(
    'is announced at least once though the sweeper dies at its call %i (after its effect: %s)',
    async (afterCalls, hasEffect) => {
      world.answers.push(answer(410));
      publish();
      await world.deliverNext();
      await world.announce({ afterCalls, hasEffect });
      await world.announce();
      expect(world.announced.length).toBeGreaterThanOrEqual(1);
      expect(world.announced.length).toBeLessThanOrEqual(2);
      expect(world.announced[0]).toEqual(announcement);
    },
  );

  it('and its end are announced in this order, also when both come before the sweeper', async () => {
    world.answers.push(answer(410));
    publish();
    await world.settle();
    world.clock.advance(1_000);
    await world.webhooks.reactivate('conta-1', 'demanda.criada', world.clock.now());
    await world.announce();
    expect(world.announced).toEqual([
      announcement,
      { ...announcement, type: 'webhook.reactivated', since: iso(noon + 1_000), reason: null, lastResult: null },
    ]);
  });

  it('of a webhook that is deleted meanwhile is not', async () => {
    world.answers.push(answer(410));
    publish();
    await world.settle();
    await world.webhooks.remove('conta-1', 'demanda.criada', world.clock.now());
    await world.announce();
    expect(world.announced).toEqual([]);
  });

  it('of what is not registered is announced to nobody, and forgotten', async () => {
    await world.remove();
    const operator = makeOperatorStore({ documents: dynalite.documents, tableName: 'Webhooks', now: world.clock.now });
    await operator.suspend('conta-1', 'demanda.criada');
    await world.announce();
    expect(world.announced).toEqual([]);
    expect(await world.webhook()).not.toHaveProperty('announcementShard');
  });

  it('that is added while another is published is not lost', async () => {
    world.answers.push(answer(410));
    publish();
    await world.settle();
    const told: string[] = [];
    const announce = makeAnnounce({
      ...world,
      documents: dynalite.documents,
      table: 'Webhooks',
      publish: async ({ type }) => {
        told.push(type);
        world.clock.advance(1);
        if (told.length === 1) await world.webhooks.reactivate('conta-1', 'demanda.criada', world.clock.now());
      },
    });
    await announce(() => true);
    await announce(() => true);
    await announce(() => true);
    expect(told).toEqual(['webhook.suspended', 'webhook.suspended', 'webhook.reactivated']);
  });

  it('that cannot be published does not hold up the others, and is published later', async () => {
    await world.register({ evento: 'demanda.cancelada' });
    for (const event of ['demanda.criada', 'demanda.cancelada']) {
      world.answers.push(answer(410));
      world.publish({ id_conta: 'conta-1', event, id_demanda: 7 });
      await world.settle();
    }
    const told: string[] = [];
    let failures = 1;
    const announce = makeAnnounce({
      ...world,
      documents: dynalite.documents,
      table: 'Webhooks',
      publish: async ({ event }) => {
        if (failures-- > 0) throw new Error('the topic is down');
        told.push(event);
      },
    });
    await expect(announce(() => true)).rejects.toThrow('the topic is down');
    expect(told).toHaveLength(1);
    await announce(() => true);
    expect(told.toSorted()).toEqual(['demanda.cancelada', 'demanda.criada']);
  });
});

describe('a webhook that does nothing but fail', () => {
  it('is announced at the first failure after a day and after four, once each', async () => {
    const told = () => world.announced.map(({ type, since, lastResult }) => `${type} ${since} ${lastResult}`);
    const failing = `webhook.failing ${iso(noon)} http`;
    const fail = async () => {
      world.answers.push(answer(500));
      publish();
      await world.deliverNext();
      await world.redeliverNext(); // a webhook that keeps failing has its first attempts made there
      await world.announce();
    };
    await fail();
    world.clock.set(noon + day - 1);
    await fail();
    expect(told()).toEqual([]);
    world.clock.set(noon + day);
    await fail();
    await fail();
    expect(told()).toEqual([failing]);
    world.clock.set(noon + 4 * day);
    await fail();
    await fail();
    expect(told()).toEqual([failing, failing]);
  });
});
