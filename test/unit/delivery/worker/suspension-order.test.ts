import { beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryWorld, makeDeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';
import type { Crash } from '../../../support/delivery-world/stepped-cloud.ts';
import { casesOf } from '../../../support/sample.ts';
import { answer } from '../builders.ts';

const second = 1_000;
const day = 24 * 60 * 60 * second;

let world: DeliveryWorld;

const elsewhere = 'https://elsewhere.example.com/';
const only = () => world.deliveries()[0];
const begin = async (health = {}) => {
  world = makeDeliveryWorld([5 * second]);
  await world.register(health);
  world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7 });
};
const failing = { failingSince: Date.UTC(2026, 10, 20, 12) - 5 * day, failingMark: 4 * day };
/** Makes the attempt that exhausts the delivery: the last of two, or its only one. */
const untilLast = async () => {
  world.answers.push(answer(500), answer(500));
  await world.step('first'); // what keeps failing is left to the retry lane
  await world.step('retry');
  await world.pass(5 * second);
};
const comeBack = () => world.pass(181 * second);
const announced = async () => {
  await world.sweep();
  return world.announced.map(({ type, reason, lastResult, deliveryId }) => ({ type, reason, lastResult, deliveryId }));
};
/** A process that dies before or after each of its first calls. */
const crashes: readonly (Crash | undefined)[] = casesOf(
  Array.from({ length: 9 }, (_, afterCalls) => [false, true].map(hasEffect => ({ afterCalls, hasEffect }))).flat(),
  6,
);

describe('a 410', { timeout: 30_000 }, () => {
  beforeEach(() => begin());

  // The webhook was suspended, the attempt stood nowhere, and the delivery was held with no attempt made.
  it('suspends nothing before it is stored', async () => {
    world.answers.push(answer(410), answer(410));
    world.between('PutCommand', () => Promise.reject(new Error('the store is down')));
    await world.step('first');
    expect(world.deferrals()).toEqual(['Error']);
    expect(await world.webhook()).toMatchObject({ status: 'active' });
    await comeBack();
    await world.step('first');
    expect(only()).toMatchObject({ state: 'held', attempts: [{ number: 1, result: 'http', status: 410 }] });
    expect(await world.webhook()).toMatchObject({ status: 'suspended', suspensionReason: 'gone' });
  });

  it.each(['first', 'retry'] as const)(
    'whose suspension could not be stored is not acknowledged, and suspends when its message comes back: %s',
    async lane => {
      if (lane === 'retry') {
        world.answers.push(answer(500));
        await world.step('first');
        await world.pass(5 * second);
      }
      world.answers.push(answer(410));
      world.between('PutCommand', async () => {
        world.between('UpdateCommand', () => Promise.reject(new Error('the store is down')));
      });
      await world.step(lane);
      expect(world.deferrals()).toEqual(['Error']);
      expect(only()).toMatchObject({ state: 'held' });
      expect(await world.webhook()).toMatchObject({ status: 'active' });
      await comeBack();
      await world.step(lane);
      const { id: deliveryId } = only() ?? {};
      expect(await world.webhook()).toMatchObject({ status: 'suspended', suspensionReason: 'gone' });
      expect(await announced()).toEqual([
        { type: 'webhook.suspended', reason: 'gone', lastResult: 'http', deliveryId },
      ]);
      expect(world.counts).toMatchObject({ WebhookSuspended: 1 });
      expect(world.posts.filter(({ status }) => status === 410)).toHaveLength(1);
    },
  );

  it('suspends and is recorded, wherever a process dies', async () => {
    for (const crash of crashes) {
      await begin();
      world.answers.push(answer(410), answer(410));
      await world.step('first', crash);
      await world.settle();
      const delivery = only();
      expect(delivery).toMatchObject({ state: 'held', attempts: [{ status: 410 }] });
      expect(await world.webhook()).toMatchObject({ status: 'suspended', suspensionReason: 'gone' });
      expect(await announced()).toMatchObject([{ type: 'webhook.suspended', deliveryId: delivery?.id }]);
    }
  });

  it('of a URL that was replaced meanwhile is an ordinary failure, wherever a process dies', async () => {
    for (const crash of crashes) {
      await begin();
      world.during.push(() => world.register({ url: elsewhere }));
      world.answers.push(answer(410));
      await world.step('first', crash);
      await world.settle();
      expect(only()).toMatchObject({ state: 'delivered' });
      expect(await world.webhook()).toMatchObject({ status: 'active', url: elsewhere });
      expect(await announced()).toEqual([]);
    }
  });

  it('of a URL that was replaced meanwhile leaves a resend uncharged', async () => {
    world.answers.push(answer(500));
    await world.step('first');
    const read = only();
    if (read) await world.resend(read);
    world.during.push(() => world.register({ url: elsewhere }));
    world.answers.push(answer(410));
    await world.step('retry');
    expect(only()).toMatchObject({
      state: 'pending',
      charged: 1,
      wait: { nextAttemptAt: read?.wait?.nextAttemptAt },
    });
  });

  it('does not suspend again what was reactivated since, and tries it once more', async () => {
    world.answers.push(answer(410));
    await world.step('first', undefined, true);
    await world.pass(second);
    await world.webhooks.reactivate('conta-1', 'demanda.criada', world.now());
    await comeBack();
    await world.step('first');
    expect(await world.webhook()).toMatchObject({ status: 'active' });
    expect(only()).toMatchObject({ state: 'pending', charged: 1 });
  });

  it('changes nothing any more where its webhook was deleted since', async () => {
    world.answers.push(answer(410));
    await world.step('first', undefined, true);
    await world.remove();
    await comeBack();
    await world.step('first');
    expect(only()).toMatchObject({ state: 'held', attempt: 2 });
  });

  it('of a delivery that was resent since is over', async () => {
    world.answers.push(answer(410));
    await world.step('first', undefined, true);
    await world.register();
    const held = only();
    if (held) await world.resend(held);
    expect(only()).not.toHaveProperty('goneFrom');
    await comeBack();
    await world.step('first');
    expect(only()).toMatchObject({ state: 'pending', attempt: 2, charged: 0 });
    expect(await world.webhook()).toMatchObject({ status: 'active' });
  });
});

describe('the attempt that exhausts after five days', { timeout: 30_000 }, () => {
  beforeEach(() => begin(failing));

  it('suspends nothing before it is stored', async () => {
    await untilLast();
    world.answers.push(answer(500));
    world.between('PutCommand', () => Promise.reject(new Error('the store is down')));
    await world.step('retry');
    expect(world.deferrals()).toEqual(['Error']);
    expect(await world.webhook()).toMatchObject({ status: 'active' });
    await comeBack();
    await world.settle();
    expect(only()).toMatchObject({ state: 'failed', attempts: [{ number: 1 }, { number: 2 }] });
    expect(await world.webhook()).toMatchObject({ status: 'suspended', suspensionReason: 'no_success' });
  });

  it('whose suspension could not be stored is not acknowledged, and suspends when its message comes back', async () => {
    await untilLast();
    world.between('PutCommand', async () => {
      world.between('UpdateCommand', () => Promise.reject(new Error('the store is down')));
    });
    await world.step('retry');
    expect(world.deferrals()).toEqual(['Error']);
    expect(only()).toMatchObject({ state: 'failed' });
    expect(await world.webhook()).toMatchObject({ status: 'active' });
    await comeBack();
    await world.step('retry');
    const { id: deliveryId } = only() ?? {};
    expect(await world.webhook()).toMatchObject({ status: 'suspended', suspensionReason: 'no_success' });
    expect(await announced()).toMatchObject([{ type: 'webhook.suspended', lastResult: 'http', deliveryId }]);
  });

  it('suspends and is recorded, wherever a process dies', async () => {
    for (const crash of crashes) {
      await begin(failing);
      await untilLast();
      world.answers.push(answer(500));
      await world.step('retry', crash);
      await world.settle();
      expect(only()).toMatchObject({ state: 'failed', attempts: [{ number: 1 }, { number: 2 }] });
      expect(await world.webhook()).toMatchObject({ status: 'suspended', suspensionReason: 'no_success' });
    }
  });

  it('suspends nothing where its message comes back after a success', async () => {
    await untilLast();
    await world.step('retry', undefined, true);
    await world.register();
    await comeBack();
    await world.step('retry');
    expect(await world.webhook()).toMatchObject({ status: 'active' });
  });
});
