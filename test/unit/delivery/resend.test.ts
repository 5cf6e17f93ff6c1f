import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WaitingDelivery } from '../../../lambdas/delivery/delivery.ts';
import { makeResend } from '../../../lambdas/delivery/resend.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';
import { answer, aWebhook } from './builders.ts';
import { schedule, simulate } from './simulation.ts';

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

const only = async () => {
  const [delivery] = await world.all();
  if (!delivery) throw new Error('nothing is stored');
  return delivery;
};

describe('a resend', () => {
  it('of what failed begins a whole new schedule, under the same id, with numbers that go on', async () => {
    const attempts = schedule.length + 1;
    world.answers.push(...Array.from({ length: 2 * attempts }, () => answer(500)));
    await world.settle();
    world.clock.advance(3_600_000);
    expect(await world.resend(await only(), aWebhook())).toBe('resent');
    expect(await only()).toMatchObject({ state: 'pendente', attempt: attempts + 1, charged: 0 });
    await world.settle();
    expect(await only()).toMatchObject({ state: 'falhou', attempt: 2 * attempts + 1 });
    expect(new Set(world.posts.map(({ id }) => id)).size).toBe(1);
    expect((await only()).attempts.map(({ numero }) => numero)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('of what was held delivers it after reactivation', async () => {
    world.answers.push(answer(410));
    await world.settle();
    expect(await world.resend(await only(), aWebhook({ status: 'suspenso' }))).toBe('webhook_suspended');
    await world.register();
    expect(await world.resend(await only(), aWebhook())).toBe('resent');
    await world.settle();
    expect(await only()).toMatchObject({ state: 'entregue' });
  });

  it('of what was delivered delivers it again', async () => {
    await world.settle();
    expect(await world.resend(await only(), aWebhook())).toBe('resent');
    await world.settle();
    expect(world.posts).toHaveLength(2);
  });

  it('is refused while the delivery is pending, also to the slower of two', async () => {
    world.answers.push(answer(410));
    await world.settle();
    await world.register();
    const delivery = await only();
    const outcomes = await Promise.all([world.resend(delivery, aWebhook()), world.resend(delivery, aWebhook())]);
    expect(outcomes.toSorted()).toEqual(['delivery_pending', 'resent']);
    expect(await world.resend(await only(), aWebhook())).toBe('delivery_pending');
  });

  it('of another registration’s delivery ends as cancelada, unsent', async () => {
    world.answers.push(answer(410));
    await world.settle();
    await world.register({ webhookId: 'webhook-2' });
    expect(await world.resend(await only(), aWebhook({ webhookId: 'webhook-2' }))).toBe('resent');
    await world.settle();
    expect(await only()).toMatchObject({ state: 'cancelada' });
    expect(world.posts).toHaveLength(1);
  });

  it('that cannot be sent is found by the sweeper', async () => {
    await world.settle();
    const sent: WaitingDelivery[] = [];
    const send = async (delivery: WaitingDelivery) => {
      sent.push(delivery);
      throw new Error('the queue is down');
    };
    const resend = makeResend({ ...world, store: world.store, retryQueue: { send }, now: world.clock.now });
    expect(await resend(await only(), aWebhook())).toBe('resent');
    expect(sent).toHaveLength(1);
    await world.settle();
    expect(world.posts).toHaveLength(2);
    expect(world.counts).toMatchObject({ RetryNotSent: 1, SweptOverdue: 1 });
  });
});
