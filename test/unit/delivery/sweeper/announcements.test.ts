import { beforeEach, describe, expect, it } from 'vitest';
import { makeWebhookHealthStore } from '../../../../lambdas/delivery/store/webhook-health-store.ts';
import { makePublishAnnouncements } from '../../../../lambdas/delivery/sweeper/announcements.ts';
import { mostAnnouncements } from '../../../../lambdas/webhooks/announcement.ts';
import { makeOperatorStore } from '../../../../lambdas/webhooks/operator-store.ts';
import { type DeliveryWorld, makeDeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';
import type { Crash } from '../../../support/delivery-world/stepped-cloud.ts';
import { answer, aWebhook, noon } from '../builders.ts';

let world: DeliveryWorld;
beforeEach(async () => {
  world = makeDeliveryWorld();
  await world.register();
});

const publish = () =>
  world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7, id: `${Math.random()}` });
const day = 24 * 60 * 60_000;
const iso = (moment: number) => new Date(moment).toISOString();

const hold = { status: 'suspended', suspensionReason: 'operator' };

const announcement = {
  type: 'webhook.suspended',
  accountId: 'conta-1',
  event: 'demanda.criada',
  webhookId: 'webhook-1',
  since: '2026-11-20T12:00:00.000Z',
  reason: 'gone',
  lastResult: 'http',
  deliveryId: expect.stringMatching(/^evt_[A-Za-z0-9_-]{27}$/),
};

describe('a suspension', () => {
  it('is announced once, with its reason', async () => {
    world.answers.push(answer(410));
    publish();
    await world.settle();
    await world.sweep();
    expect(world.announced).toEqual([announcement]);
    await world.pass(3_600_000);
    await world.sweep();
    expect(world.announced).toHaveLength(1);
    expect(await world.webhook()).not.toHaveProperty('announcementShard');
  });

  it.each(Array.from({ length: 12 }, (_, call) => [call % 6, call >= 6] as const))(
    'that dies at call %i (after its effect: %s) is announced if and only if it was made',
    async (afterCalls, hasEffect) => {
      world.answers.push(answer(410));
      publish();
      await world.step('first', { afterCalls, hasEffect });
      const suspended = (await world.webhook())?.status === 'suspended';
      await world.sweep();
      expect(world.announced).toEqual(suspended ? [announcement] : []);
    },
  );

  // Seventeen calls of a sweep look for what is due, and one in each hour's first minute at the dead letters: the others announce.
  const announcing = Array.from({ length: 12 }, (_, call) => [17 + (call % 6), call >= 6] as const);

  it.each(announcing)(
    'is announced at least once though the sweeper dies at its call %i (after its effect: %s)',
    async (afterCalls, hasEffect) => {
      world.answers.push(answer(410));
      publish();
      await world.step('first');
      expect(await world.sweep({ afterCalls, hasEffect })).toBe(false);
      await world.sweep();
      expect(world.announced.length).toBeGreaterThanOrEqual(1);
      expect(world.announced.length).toBeLessThanOrEqual(2);
      expect(world.announced[0]).toEqual(announcement);
    },
  );

  it('and its end are announced in this order, even when both come before the sweep', async () => {
    world.answers.push(answer(410));
    publish();
    await world.settle();
    await world.pass(1_000);
    await world.webhooks.reactivate('conta-1', 'demanda.criada', world.now());
    await world.sweep();
    expect(world.announced).toEqual([
      announcement,
      {
        ...announcement,
        type: 'webhook.reactivated',
        since: iso(noon + 1_000),
        reason: null,
        lastResult: null,
        deliveryId: null,
      },
    ]);
  });

  it('is announced though its webhook is deleted before the sweep, and leaves no webhook', async () => {
    world.answers.push(answer(410));
    publish();
    await world.settle();
    expect(await world.webhooks.remove('conta-1', 'demanda.criada', world.now())).toBe('removed');
    expect(await world.webhooks.find('conta-1', 'demanda.criada')).toBeUndefined();
    expect(await world.webhooks.remove('conta-1', 'demanda.criada', world.now())).toBe('not_registered');
    await world.sweep();
    await world.sweep();
    expect(world.announced).toEqual([announcement]);
    expect(await world.webhook()).not.toHaveProperty('announcementShard');
  });

  it('is announced of the registration that it ended, not of the next one, which begins healthy', async () => {
    const { webhooks, now } = world;
    const register = (webhookId: string) =>
      webhooks.create(aWebhook({ webhookId, createdAt: now(), updatedAt: now() }));
    for (const webhookId of ['webhook-2', 'webhook-3']) {
      world.answers.push(answer(410));
      publish();
      await world.settle();
      await webhooks.remove('conta-1', 'demanda.criada', now());
      await world.pass(1_000);
      expect(await register(webhookId)).toEqual(aWebhook({ webhookId, createdAt: now(), updatedAt: now() }));
    }
    await world.sweep();
    expect(world.announced).toEqual([
      announcement,
      { ...announcement, webhookId: 'webhook-2', since: iso(noon + 1_000) },
    ]);
    expect(await webhooks.find('conta-1', 'demanda.criada')).toMatchObject({
      webhookId: 'webhook-3',
      status: 'active',
    });
  });

  it('by an operator is announced and stays, though its webhook is deleted before the sweep', async () => {
    const operator = makeOperatorStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
    await operator.suspend('conta-1', 'demanda.criada');
    expect(await world.webhooks.remove('conta-1', 'demanda.criada', world.now())).toBe('removed');
    await world.sweep();
    expect(world.announced).toEqual([{ ...announcement, reason: 'operador', lastResult: null, deliveryId: null }]);
    expect(await world.webhooks.create(aWebhook())).toMatchObject(hold);
  });

  it('is announced though an operator ends what holds the next webhook', async () => {
    const operator = makeOperatorStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
    await operator.suspend('conta-1', 'demanda.criada');
    await world.webhooks.remove('conta-1', 'demanda.criada', world.now());
    expect(await operator.reactivate('conta-1', 'demanda.criada')).toEqual({ outcome: 'not_registered' });
    expect(await operator.reactivate('conta-1', 'demanda.criada')).toBeUndefined();
    expect(await operator.find('conta-1', 'demanda.criada')).toBeUndefined();
    expect(await operator.listOf('conta-1')).toEqual([]);
    await world.sweep();
    expect(world.announced).toMatchObject([{ type: 'webhook.suspended', webhookId: 'webhook-1' }]);
    expect(await operator.listAll(() => {})).toEqual([]);
    expect(await world.webhooks.create(aWebhook())).toEqual(aWebhook());
  });

  it.each(announcing)(
    'is announced though its webhook is deleted while the sweeper is at its call %i (after its effect: %s)',
    async (afterCalls, hasEffect) => {
      world.answers.push(answer(410));
      publish();
      await world.step('first');
      expect(await world.sweep({ afterCalls, hasEffect })).toBe(false);
      expect(await world.webhooks.remove('conta-1', 'demanda.criada', world.now())).toBe('removed');
      await world.sweep();
      expect(world.announced.length).toBeGreaterThanOrEqual(1);
      expect(new Set(world.announced.map(({ webhookId }) => webhookId))).toEqual(new Set(['webhook-1']));
      expect((await world.webhook()) ?? {}).not.toHaveProperty('announcementShard');
    },
  );

  it('without a registered webhook is not announced, and its announcement is removed', async () => {
    await world.remove();
    const operator = makeOperatorStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
    await operator.suspend('conta-1', 'demanda.criada');
    await world.sweep();
    expect(world.announced).toEqual([]);
    expect(await world.webhook()).not.toHaveProperty('announcementShard');
  });

  it('is not lost when it is added while another is published', async () => {
    world.answers.push(answer(410));
    publish();
    await world.settle();
    const told: string[] = [];
    const announce = makePublishAnnouncements({
      ...world,
      dynamo: world.dynamo,
      table: 'Webhooks',
      publish: async ({ type }) => {
        told.push(type);
        await world.pass(1);
        if (told.length === 1) await world.webhooks.reactivate('conta-1', 'demanda.criada', world.now());
      },
    });
    await announce(() => true);
    await announce(() => true);
    expect(told).toEqual(['webhook.suspended', 'webhook.reactivated']);
    expect(await world.webhook()).not.toHaveProperty('announcementShard');
  });

  it('does not stop the others when it cannot be published, and is published later', async () => {
    await world.register({ eventName: 'demanda.cancelada' });
    for (const event of ['demanda.criada', 'demanda.cancelada']) {
      world.answers.push(answer(410));
      world.publish({ id_conta: 'conta-1', event, id_demanda: 7 });
      await world.settle();
    }
    const told: string[] = [];
    let failures = 1;
    const announce = makePublishAnnouncements({
      ...world,
      dynamo: world.dynamo,
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

describe('an account that toggles its suspension', () => {
  const health = () => makeWebhookHealthStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
  /** A 410, and a reactivation a second later. */
  const toggle = async () => {
    expect(await health().suspendGone(aWebhook(), { lastResult: 'http', deliveryId: 'evt_1' })).toBe('suspended');
    await world.pass(1_000);
    const webhook = await world.webhooks.reactivate('conta-1', 'demanda.criada', world.now());
    expect(webhook?.status).toBe('active');
    await world.pass(1_000);
  };
  it('has few announcements published: the first failure and the latest state among them', async () => {
    for (let round = 0; round < 30; round++) await toggle();
    expect((await world.webhook())?.announcements).toHaveLength(mostAnnouncements);
    await world.sweep();
    expect(world.announced).toHaveLength(mostAnnouncements);
    expect(world.announced[0]).toMatchObject({ type: 'webhook.suspended', since: iso(noon) });
    expect(world.announced.at(-1)).toMatchObject({ type: 'webhook.reactivated', since: iso(noon + 59_000) });
    expect(await world.webhook()).not.toHaveProperty('announcementShard');
  });

  // All taken out or nothing: with something new each second, what was published was published again each minute.
  it('has each announcement published once while it goes on', async () => {
    const told: string[] = [];
    const announce = makePublishAnnouncements({
      ...world,
      dynamo: world.dynamo,
      table: 'Webhooks',
      publish: async ({ type, since }) => {
        told.push(`${type} ${since}`);
        if (told.length < 40) await toggle();
      },
    });
    await toggle();
    for (let run = 0; run < 3; run++) {
      const before = told.length;
      await announce(() => true);
      expect(told.length - before).toBeLessThanOrEqual(mostAnnouncements);
      expect(told.length).toBeGreaterThan(before);
    }
    expect(new Set(told).size).toBe(told.length);
  });

  it('keeps its place in the index, and has the rest published by the next sweep', async () => {
    for (let round = 0; round < 3; round++) await toggle();
    expect((await world.webhook())?.announcementAt).toBe(`${iso(noon)}#conta-1#demanda.criada`);
    const told: string[] = [];
    const publish = async ({ type }: { type: string }) => void told.push(type);
    const announce = makePublishAnnouncements({ ...world, dynamo: world.dynamo, table: 'Webhooks', publish });
    await announce(() => told.length < 2);
    expect(told).toHaveLength(2);
    await announce(() => true);
    expect(told).toHaveLength(mostAnnouncements);
  });

  it('cannot keep an operator’s suspension from being announced', async () => {
    const operator = makeOperatorStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
    for (let round = 0; round < 10; round++) await toggle();
    expect(await operator.suspend('conta-1', 'demanda.criada')).toMatchObject({ outcome: 'changed', webhook: hold });
    const announcements = (await world.webhook())?.announcements;
    expect(announcements).toHaveLength(mostAnnouncements);
    expect(announcements.at(-1)).toMatchObject({ type: 'webhook.suspended', reason: 'operator' });
    expect(await health().suspendGone(aWebhook(), { lastResult: 'http', deliveryId: 'evt_1' })).toBe(
      'suspended_already',
    );
  });

  it('cannot keep it from being announced when it takes the last place just as that is published', async () => {
    const operator = makeOperatorStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
    for (let round = 0; round < 10; round++) await toggle();
    const told: (string | null)[] = [];
    const publish = async ({ reason }: { reason: string | null }) => {
      if (told.length === 0) await operator.suspend('conta-1', 'demanda.criada');
      told.push(reason);
    };
    const announce = makePublishAnnouncements({ ...world, dynamo: world.dynamo, table: 'Webhooks', publish });
    await announce(() => true);
    await announce(() => true);
    expect(told).toHaveLength(mostAnnouncements + 1);
    expect(told.at(-1)).toBe('operador');
    expect(await world.webhook()).not.toHaveProperty('announcements');
  });

  it('cannot keep it from being announced in a race with the operator and the sweeper', async () => {
    const operator = makeOperatorStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
    for (let round = 0; round < 5; round++) {
      for (let filled = 0; filled < 3; filled++) await toggle();
      await world.pass(1_000);
      const told: (string | null)[] = [];
      const publish = async ({ reason }: { reason: string | null }) => void told.push(reason);
      const announce = makePublishAnnouncements({ ...world, dynamo: world.dynamo, table: 'Webhooks', publish });
      const churn = async () => {
        for (let time = 0; time < 6; time++) {
          await health().suspendGone(aWebhook(), { lastResult: 'http', deliveryId: 'evt_1' });
          await world.webhooks.reactivate('conta-1', 'demanda.criada', world.now());
        }
      };
      const [, , suspended] = await Promise.all([
        churn(),
        announce(() => true),
        operator.suspend('conta-1', 'demanda.criada'),
      ]);
      expect(suspended).toMatchObject({ outcome: 'changed', webhook: hold });
      expect(await world.webhook()).toMatchObject(hold);
      await announce(() => true);
      expect(told.at(-1)).toBe('operador');
      expect(await world.webhook()).not.toHaveProperty('announcements');
      await operator.reactivate('conta-1', 'demanda.criada');
      await announce(() => true);
    }
  });
});

describe('a webhook that fails all the time', () => {
  it('is announced at the first failure after one day and after four days, once each', async () => {
    const told = () => world.announced.map(({ type, since, lastResult }) => `${type} ${since} ${lastResult}`);
    const failing = `webhook.failing ${iso(noon)} http`;
    const fail = async () => {
      world.answers.push(answer(500));
      publish();
      await world.step('first');
      await world.step('retry'); // a webhook that keeps failing has its first attempts made there
      await world.sweep();
    };
    await fail();
    await world.run(noon + day - 1);
    await fail();
    expect(told()).toEqual([]);
    await world.run(noon + day);
    await fail();
    await fail();
    expect(told()).toEqual([failing]);
    await world.run(noon + 4 * day);
    await fail();
    await fail();
    expect(told()).toEqual([failing, failing]);
  });
});

describe('a webhook that delivers again', () => {
  const attempt = async (status: number, crash?: Crash) => {
    world.answers.push(answer(status));
    publish();
    await world.step('first');
    if (world.answers.length > 0) await world.step('retry', crash); // one that keeps failing has its first attempts made there
  };
  /** Fails for a day, and has that announced. */
  const failForADay = async () => {
    await attempt(500);
    await world.run(noon + day);
    await attempt(500);
    await world.sweep();
    expect(world.announced).toMatchObject([{ type: 'webhook.failing', deliveryId: world.posts.at(-1)?.id }]);
    world.announced.length = 0;
  };
  const recovered = () => ({
    ...announcement,
    type: 'webhook.recovered',
    reason: null,
    lastResult: 'entregue',
    deliveryId: world.posts.at(-1)?.id,
  });

  it('is announced once, by the delivery that told, with the time since when it failed', async () => {
    await failForADay();
    await attempt(200);
    const told = recovered();
    await attempt(200);
    await world.sweep();
    expect(world.announced).toEqual([told]);
  });

  it('is not announced where no failure was', async () => {
    await attempt(500);
    await attempt(200);
    await world.sweep();
    expect(world.announced).toEqual([]);
  });

  it('is announced at its first success, though its URL was replaced before that', async () => {
    await failForADay();
    const failing = await world.webhooks.find('conta-1', 'demanda.criada');
    const changes = { url: 'https://other.example.com/', sealedAuthorization: undefined, updatedAt: world.now() };
    await world.webhooks.replace(failing as NonNullable<typeof failing>, changes);
    await world.sweep();
    expect(world.announced).toEqual([]);
    world.answers.push(answer(200));
    publish();
    await world.step('first');
    await world.sweep();
    expect(world.announced).toEqual([recovered()]);
  });

  it('is announced again after another announced failure', async () => {
    await failForADay();
    await attempt(200);
    await world.pass(1_000);
    const again = world.now();
    await attempt(500);
    await world.pass(day);
    await attempt(500);
    await attempt(200);
    await world.sweep();
    expect(world.announced.map(({ type, since }) => `${type} ${since}`)).toEqual([
      `webhook.recovered ${iso(noon)}`,
      `webhook.failing ${iso(again)}`,
      `webhook.recovered ${iso(again)}`,
    ]);
  });

  it.each(Array.from({ length: 12 }, (_, call) => [call % 6, call >= 6] as const))(
    'is announced once though its attempt dies at call %i (after its effect: %s)',
    async (afterCalls, hasEffect) => {
      await failForADay();
      await attempt(200, { afterCalls, hasEffect });
      await world.settle();
      await world.sweep();
      expect(world.announced.map(({ type }) => type)).toEqual(['webhook.recovered']);
    },
  );
});
