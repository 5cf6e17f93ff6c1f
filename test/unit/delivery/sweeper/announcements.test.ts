import { describe, expect, it } from 'vitest';
import { makeWebhookHealthStore } from '../../../../lambdas/delivery/store/webhook-health-store.ts';
import { makePublishAnnouncements } from '../../../../lambdas/delivery/sweeper/announcements.ts';
import { mostAnnouncements } from '../../../../lambdas/webhooks/announcement.ts';
import { makeOperatorStore } from '../../../../ops/stores/operator-store.ts';
import type { DeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';
import { everyCrash } from '../../../support/delivery-world/every-crash.ts';
import type { Crash } from '../../../support/delivery-world/stepped-cloud.ts';
import { beginWorld, useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { answer, aWebhook, noon } from '../builders.ts';

useDeliveryWorld();

/** Makes what publishes announcements, in another way than the sweeper does. */
const publisherBy = (publish: Parameters<typeof makePublishAnnouncements>[0]['publish']) =>
  makePublishAnnouncements({ ...world, dynamo: world.dynamo, table: 'Webhooks', publish });
const makeOperator = () => makeOperatorStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
/** Has the webhook suspended by a 410. */
const suspend = async () => {
  world.answers.push(answer(410));
  world.publishEvent();
  await world.step('first');
};
const day = 24 * 60 * 60_000;
const iso = (moment: number) => new Date(moment).toISOString();

const attempt = async (status: number, crash?: Crash) => {
  world.answers.push(answer(status));
  world.publishEvent();
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
  it('fails the sweep while the topic is down, and is announced once after that, with its reason', async () => {
    await suspend();
    world.topic.isDown = true;
    await expect(world.sweep()).rejects.toThrow('the topic is down');
    world.topic.isDown = false;
    await world.sweep();
    expect(world.announced).toEqual([announcement]);
    await world.pass(3_600_000);
    await world.sweep();
    expect(world.announced).toHaveLength(1);
    expect(await world.webhook()).not.toHaveProperty('announcementShard');
  });

  // The first 5 calls of a sweep look for what is due. The others announce.
  const announcing = Array.from({ length: 10 }, (_, call) => [5 + (call % 5), call >= 5] as const);

  it.each(announcing)(
    'is announced though the sweeper dies at its call %i (after its effect: %s), and its webhook may be deleted then',
    async (afterCalls, hasEffect) => {
      for (const isDeleted of [false, true]) {
        await beginWorld();
        await suspend();
        expect(await world.sweep({ afterCalls, hasEffect })).toBe(false);
        if (isDeleted) expect(await world.webhooks.remove('conta-1', 'demanda.criada', world.now())).toBe('removed');
        await world.sweep();
        expect([1, 2]).toContain(world.announced.length);
        for (const told of world.announced) expect(told).toEqual(announcement);
        expect((await world.webhook()) ?? {}).not.toHaveProperty('announcementShard');
      }
    },
  );

  it('and its end are announced in this order, even when both come before the sweep', async () => {
    await suspend();
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
    await suspend();
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
      await suspend();
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

  it.each([
    ['and stays', false],
    ['though an operator ends what holds the next one', true],
  ])('by an operator is announced though its webhook is deleted before the sweep, %s', async (_, isEnded) => {
    const operator = makeOperator();
    await operator.suspend('conta-1', 'demanda.criada');
    expect(await world.webhooks.remove('conta-1', 'demanda.criada', world.now())).toBe('removed');
    if (isEnded) expect(await operator.reactivate('conta-1', 'demanda.criada')).toEqual({ outcome: 'not_registered' });
    if (isEnded) expect(await operator.listOf('conta-1')).toEqual([]);
    await world.sweep();
    expect(world.announced).toEqual([{ ...announcement, reason: 'operador', lastResult: null, deliveryId: null }]);
    expect(await operator.listAll(() => {})).toHaveLength(isEnded ? 0 : 1);
    expect(await world.webhooks.create(aWebhook())).toMatchObject(isEnded ? aWebhook() : hold);
  });

  it('without a registered webhook is not announced, and its announcement is removed', async () => {
    await world.remove();
    const operator = makeOperator();
    await operator.suspend('conta-1', 'demanda.criada');
    await world.sweep();
    expect(world.announced).toEqual([]);
    expect(await world.webhook()).not.toHaveProperty('announcementShard');
  });

  it('does not stop the others when it cannot be published, and is published later', async () => {
    await world.register({ eventName: 'demanda.cancelada' });
    for (const event of ['demanda.criada', 'demanda.cancelada']) {
      world.answers.push(answer(410));
      world.publishEvent({ event });
      await world.settle();
    }
    const told: string[] = [];
    let failures = 1;
    const announce = publisherBy(async ({ event }) => {
      if (failures-- > 0) throw new Error('the topic is down');
      told.push(event);
    });
    await expect(announce(() => true)).rejects.toThrow('the topic is down');
    expect(told).toHaveLength(1);
    await announce(() => true);
    expect(told.toSorted()).toEqual(['demanda.cancelada', 'demanda.criada']);
  });
});

// That its list of announcements is full keeps no operator from suspending: test/unit/webhooks/webhook-store.test.ts.
// Bug: a topic that hangs until a sweep has no time left let that sweep end well.
it('a sweep that runs out of time fails where an announcement could not be published', async () => {
  await suspend();
  let isOver = false;
  const publishAll = publisherBy(async () => {
    isOver = true;
    throw new Error('the topic does not answer');
  });
  await world.register({ accountId: 'conta-2' });
  await makeOperator().suspend('conta-2', 'demanda.criada');
  await expect(publishAll(() => !isOver)).rejects.toThrow('the topic does not answer');
});

describe('an account that toggles its suspension', () => {
  const health = () => makeWebhookHealthStore({ dynamo: world.dynamo, table: 'Webhooks', now: world.now });
  /** A 410, and a reactivation a second later. */
  const toggle = async () => {
    const read = (await world.webhooks.find('conta-1', 'demanda.criada')) ?? aWebhook();
    expect(await health().suspendGone(read, { lastResult: 'http', deliveryId: 'evt_1' })).toBe('suspended');
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
    const announce = publisherBy(async ({ type, since }) => {
      told.push(`${type} ${since}`);
      if (told.length < 40) await toggle();
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
    const announce = publisherBy(publish);
    await announce(() => told.length < 2);
    expect(told).toHaveLength(2);
    await announce(() => true);
    expect(told).toHaveLength(mostAnnouncements);
  });

  it('cannot keep it from being announced when it takes the last place just as that is published', async () => {
    const operator = makeOperator();
    for (let round = 0; round < 10; round++) await toggle();
    const told: (string | null)[] = [];
    const publish = async ({ reason }: { reason: string | null }) => {
      if (told.length === 0) await operator.suspend('conta-1', 'demanda.criada');
      told.push(reason);
    };
    const announce = publisherBy(publish);
    await announce(() => true);
    await announce(() => true);
    expect(told).toHaveLength(mostAnnouncements + 1);
    expect(told.at(-1)).toBe('operador');
    expect(await world.webhook()).not.toHaveProperty('announcements');
  });
});

describe('a webhook that delivers again', () => {
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

  it('is announced at its first success, though its URL was replaced before that', async () => {
    await failForADay();
    const failing = await world.webhooks.find('conta-1', 'demanda.criada');
    const changes = { url: 'https://other.example.com/', sealedAuthorization: undefined, updatedAt: world.now() };
    await world.webhooks.replace(failing as NonNullable<typeof failing>, changes);
    await world.sweep();
    expect(world.announced).toEqual([]);
    world.answers.push(answer(200));
    world.publishEvent();
    await world.step('first');
    await world.sweep();
    expect(world.announced).toEqual([recovered()]);
  });

  it('is announced once, wherever its attempt dies', () =>
    everyCrash(async crash => {
      await beginWorld();
      await failForADay();
      await attempt(200, crash);
      await world.settle();
      await world.sweep();
      expect(world.announced.map(({ type }) => type)).toEqual(['webhook.recovered']);
    }));
});

describe('the function that tells the owner, which the pages link to', () => {
  const sample = new URL('../../../../docs/samples/operator/tell-owner.mjs', import.meta.url).href;
  const addresses: Record<string, string> = { 'conta-1': 'ana@acme.com.br' };

  it('writes to the address of the account for each notice that the service publishes', async () => {
    await failForADay();
    await attempt(200);
    await suspend();
    await makeOperator().reactivate('conta-1', 'demanda.criada');
    await world.sweep();
    const { makeHandler } = await import(sample);
    const sent: string[] = [];
    const send = async (...[address, text]: string[]) => void sent.push(`${address}: ${text}`);
    const handler = makeHandler(async (account: string) => addresses[account], send);
    await handler(asSnsInvokes(world.published));
    expect(sent).toEqual([
      `ana@acme.com.br: Webhook demanda.criada: nenhuma tentativa deu certo desde ${iso(noon)}`,
      `ana@acme.com.br: Webhook demanda.criada: as entregas voltaram a dar certo; falhavam desde ${iso(noon)}`,
      `ana@acme.com.br: Webhook demanda.criada: está suspenso desde ${iso(noon + day)}`,
      `ana@acme.com.br: Webhook demanda.criada: está ativo de novo desde ${iso(noon + day)}`,
    ]);

    delete addresses['conta-1'];
    await handler(asSnsInvokes(world.published));
    expect(sent).toHaveLength(4);
  });

  /** The event of an invocation: SNS names attributes otherwise than it is told them. */
  function asSnsInvokes(messages: DeliveryWorld['published']) {
    const Records = messages.map(({ Message, Subject, MessageAttributes = {} }) => {
      const attributes = Object.entries(MessageAttributes).map(([name, { DataType, StringValue }]) => [
        name,
        { Type: DataType, Value: StringValue },
      ]);
      return { EventSource: 'aws:sns', Sns: { Message, Subject, MessageAttributes: Object.fromEntries(attributes) } };
    });
    return { Records };
  }
});
