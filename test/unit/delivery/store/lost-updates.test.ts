import { describe, expect, it } from 'vitest';
import type { WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { answer } from '../builders.ts';

const second = 1_000;
const minute = 60 * second;

useDeliveryWorld();

const waiting = () => world.only() as WaitingDelivery;
/** Resends as an owner does whose request came a second ago, when the attempt was not due yet. */
const resend = async () => {
  await world.resend(world.only(), second);
};
const failOnce = async () => {
  world.publishEvent();
  world.answers.push(answer(500));
  await world.step('first');
};
/** Expects the resend to come now, and its failure not to be charged: the old due time stays. */
const expectResent = async (charged: number) => {
  const { expedited, attempts } = world.only();
  expect(expedited).toBeDefined();
  const before = attempts.length;
  const due = world.now();
  world.answers.push(answer(500));
  for (let step = 0; world.only().attempts.length === before; step++) {
    if (step === 5) throw new Error('the resend does not come');
    await world.step('retry');
    await world.step('slow');
    await world.pass(second);
  }
  expect(world.now() - due).toBeLessThanOrEqual(5 * second);
  expect(world.only()).toMatchObject({ state: 'pending', charged });
};

// It was answered 202, and undone by whoever had read the delivery before.
describe('a resend of what waits is undone by nobody who read it before', () => {
  it.each([
    ['a hold', { status: 'suspended', suspensionReason: 'gone' }],
    ['a cancellation', { webhookId: 'webhook-0' }],
  ] as const)('not by %s that its webhook’s earlier state would bring', async (_, earlier) => {
    await failOnce();
    await world.register(earlier);
    await world.pass(5 * second);
    world.between('PutCommand', async () => {
      await world.register();
      await resend();
    });
    await world.step('retry');
    expect(world.only()).toMatchObject({ state: 'pending', expedited: { at: world.now() - second } });
    await expectResent(1);
  });
});

describe('whoever finds a delivery changed since it was read', () => {
  const mark = async () => {
    const read = waiting();
    await world.store.update(read, { ...read, wait: { ...read.wait, sweepAt: read.wait.sweepAt + 1 } });
  };

  it('resends it all the same where only when the sweeper looks is another', async () => {
    await failOnce();
    await world.pass(second);
    world.between('PutCommand', mark);
    await world.resend(world.only());
    expect(world.only()).toMatchObject({ expedited: { at: world.now() } });
    expect(world.waiting('retries')).toHaveLength(2);
  });

  it('leaves it to the resend or the outcome that was quicker', async () => {
    await failOnce();
    const read = world.only();
    await world.resend(read);
    await world.resend(read);
    expect(world.waiting('retries')).toHaveLength(2);
    await world.settle();
    await world.resend(read);
    expect(world.only()).toMatchObject({ state: 'delivered' });
  });

  it('ends it all the same where only when the sweeper looks is another: no message is left for it', async () => {
    await failOnce();
    await world.remove();
    await world.pass(5 * second);
    world.between('PutCommand', mark);
    await world.step('retry');
    expect(world.only()).toMatchObject({ state: 'cancelled' });
  });

  it('lets its message come back where it changes each time', async () => {
    await failOnce();
    await world.remove();
    await world.pass(5 * second);
    const keepChanging = async () => {
      await mark();
      world.between('PutCommand', keepChanging);
    };
    world.between('PutCommand', keepChanging);
    await world.step('retry');
    expect(world.deferrals()).toEqual(['DeliveryChangedError']);
    expect(world.waiting('retries')).toHaveLength(1);
  });

  it('records the outcome of an attempt all the same: it was made', async () => {
    await failOnce();
    await world.pass(5 * second);
    world.during.push(async () => {
      await world.pass(5 * minute);
      await world.sweep();
    });
    await world.step('retry');
    expect(world.only()).toMatchObject({ state: 'delivered', attempts: [{ number: 1 }, { number: 2 }] });
  });

  it('changes a delivery that has no version yet', async () => {
    await failOnce();
    const read = world.only();
    expect(read).not.toHaveProperty('version');
    expect(await world.store.update(read, { ...read, body: 'b' })).toBe(true);
    expect(await world.store.update(read, { ...read, body: 'c' })).toBe(false);
    const [again] = world.deliveries();
    expect(again).toMatchObject({ body: 'b', version: 1 });
    if (again) expect(await world.store.update(again, { ...again, body: 'd' })).toBe(true);
  });
});
