import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { queuedInSlowLane, withSlot } from '../../../../lambdas/delivery/transitions.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { answer } from '../builders.ts';
import { simulate } from '../simulation.ts';

const second = 1_000;
const minute = 60 * second;
const day = { desde: '2026-11-20T00:00:00Z', ate: '2026-11-21T00:00:00Z' };
const replays = '/v1/webhooks/demanda.criada/reenvios';

let database: Database;
let world: Awaited<ReturnType<typeof simulate>>;
beforeAll(async () => {
  database = await startDatabase('Deliveries', 'Webhooks');
});
afterAll(() => database.stop());
beforeEach(async () => {
  world = await simulate(database);
  await world.register();
});

let events = 0;
const publish = () => world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: ++events });
const only = async (): Promise<WaitingDelivery> => {
  const [delivery] = await world.all();
  if (!delivery) throw new Error('nothing is stored');
  return delivery as WaitingDelivery;
};
/** Resends as an owner does whose request came a second ago, when the attempt was not due yet. */
const resend = async () => {
  world.clock.advance(-second);
  await world.resend(await only());
  world.clock.advance(second);
};
const failOnce = async () => {
  publish();
  world.answers.push(answer(500));
  await world.deliverNext();
};
/** Expects the resend to come now, and its failure not to be charged: the old due time stays. */
const expectResent = async (charged: number) => {
  const { broughtForward, attempts } = await only();
  expect(broughtForward).toBeDefined();
  const before = attempts.length;
  const due = world.clock.now();
  world.answers.push(answer(500));
  for (let step = 0; (await only()).attempts.length === before; step++) {
    if (step === 5) throw new Error('the resend does not come');
    await world.retryNext();
    await world.retrySlowNext();
    world.clock.advance(second);
  }
  expect(world.clock.now() - due).toBeLessThanOrEqual(5 * second);
  expect(await only()).toMatchObject({ state: 'pending', charged });
};

// It was answered 202, and undone by whoever had read the delivery before.
describe('a resend of what waits is undone by nobody who read it before', () => {
  const waitInTable = async () => {
    await world.slowDown();
    await world.takeSlots();
    publish();
    await world.deliverNext();
    expect(await only()).toMatchObject({ wait: { slowLane: 'waiting' } });
    world.clock.advance(31 * second);
  };

  it('not by the sweeper that gives it a slot', async () => {
    await waitInTable();
    world.between('SendMessageBatchCommand', resend);
    await world.sweep();
    await expectResent(0);
  });

  it('not by the sweeper that brings it forward because its webhook is quick again', async () => {
    await waitInTable();
    await world.speedUp();
    world.between('PutCommand', resend);
    await world.sweep();
    await expectResent(0);
  });

  it('not by the end of what has waited for ten days', async () => {
    await waitInTable();
    world.clock.advance(10 * 24 * 60 * minute);
    world.between('PutCommand', resend);
    await world.sweep();
    expect(await only()).toMatchObject({ state: 'pending', broughtForward: { at: expect.any(Number) } });
  });

  it('not by the mark of its move to the slow lane', async () => {
    await failOnce();
    await world.slowDown();
    world.clock.advance(5 * second);
    world.between('PutCommand', resend);
    await world.retryNext();
    await expectResent(1);
  });

  it('not by the mark that the slow queue did not take its message', async () => {
    await world.slowDown();
    publish();
    publish();
    publish();
    await world.deliverNext();
    await world.deliverNext();
    const others = new Set((await world.all()).map(({ id }) => id));
    world.between('SendMessageCommand', async () => {
      const moved = (await world.all()).find(({ id }) => !others.has(id));
      if (moved) await world.resend(moved);
      throw new Error('the queue is down');
    });
    await world.deliverNext();
    const moved = (await world.all()).find(({ id }) => !others.has(id));
    expect(moved).toMatchObject({ broughtForward: { at: world.clock.now() } });
    expect(world.retries).toHaveLength(1);
  });

  it('not by the withdrawal of its replay, which was cancelled', async () => {
    await world.register({ status: 'suspended', suspensionReason: 'gone' });
    for (let event = 0; event < 20; event++) {
      publish();
      await world.deliverNext();
    }
    await world.register();
    world.clock.advance(minute);
    const started = await world.request('POST', replays, { body: { ...day, estado: 'retida' } });
    await world.request('DELETE', `${replays}/${started?.json.id}`);
    world.clock.advance(2 * second);
    const due = JSON.parse(world.retries[15]?.body ?? '{}').id;
    world.retries.unshift(...world.retries.splice(15, 1));
    world.between('PutCommand', async () => {
      const delivery = (await world.all()).find(({ id }) => id === due);
      world.clock.advance(-second);
      if (delivery) await world.resend(delivery);
      world.clock.advance(second);
    });
    await world.retryNext();
    expect((await world.all()).find(({ id }) => id === due)).toMatchObject({ state: 'pending' });
    world.retries.unshift(...world.retries.splice(-1));
    await world.retryNext();
    expect((await world.all()).find(({ id }) => id === due)).toMatchObject({ state: 'delivered' });
  });

  it.each([
    ['a hold', { status: 'suspended', suspensionReason: 'gone' }],
    ['a cancellation', { webhookId: 'webhook-0' }],
  ] as const)('not by %s that its webhook’s earlier state would bring', async (_, earlier) => {
    await failOnce();
    await world.register(earlier);
    world.clock.advance(5 * second);
    world.between('PutCommand', async () => {
      await world.register();
      await resend();
    });
    await world.retryNext();
    expect(await only()).toMatchObject({ state: 'pending', broughtForward: { at: world.clock.now() - second } });
    await expectResent(1);
  });
});

describe('whoever finds a delivery changed since it was read', () => {
  const mark = async () => {
    const read = await only();
    await world.store.update(
      read,
      queuedInSlowLane(withSlot(read, { at: read.wait.nextAttemptAt, series: 0 }, world.clock.now())),
    );
  };

  it('resends it all the same where only its mark or its slot is another', async () => {
    await failOnce();
    world.clock.advance(second);
    world.between('PutCommand', mark);
    await world.resend(await only());
    expect(await only()).toMatchObject({ broughtForward: { at: world.clock.now() } });
    expect(world.retries).toHaveLength(2);
  });

  it('leaves it to the resend or the outcome that was quicker', async () => {
    await failOnce();
    const read = await only();
    await world.resend(read);
    await world.resend(read);
    expect(world.retries).toHaveLength(2);
    await world.settle();
    await world.resend(read);
    expect(await only()).toMatchObject({ state: 'delivered' });
  });

  it('ends it all the same where only its mark is another: no message is left for it', async () => {
    await failOnce();
    await world.slowDown();
    world.clock.advance(5 * second);
    world.between('PutCommand', async () => {
      await world.remove();
      world.between('PutCommand', mark);
      await world.retrySlowNext();
    });
    await world.retryNext();
    expect(await only()).toMatchObject({ state: 'cancelled' });
    expect(world.slow).toEqual([]);
  });

  it('lets its message come back where it changes each time', async () => {
    await failOnce();
    await world.remove();
    world.clock.advance(5 * second);
    const keepChanging = async () => {
      const read = await only();
      await world.store.update(read, { ...read, wait: { ...read.wait, sweepAt: read.wait.sweepAt + 1 } });
      world.between('PutCommand', keepChanging);
    };
    world.between('PutCommand', keepChanging);
    await world.retryNext();
    expect(world.deferrals()).toEqual(['DeliveryChangedError']);
    expect(world.retries).toHaveLength(1);
  });

  it('records the outcome of an attempt all the same: it was made', async () => {
    await failOnce();
    world.clock.advance(5 * second);
    world.during.push(async () => {
      world.clock.advance(5 * minute);
      await world.sweep();
    });
    await world.retryNext();
    expect(await only()).toMatchObject({ state: 'delivered', attempts: [{ number: 1 }, { number: 2 }] });
  });

  it('changes what an earlier release stored, which has no version', async () => {
    await failOnce();
    const read = await only();
    expect(read).not.toHaveProperty('version');
    expect(await world.store.update(read, { ...read, body: 'b' })).toBe(true);
    expect(await world.store.update(read, { ...read, body: 'c' })).toBe(false);
    const [again] = await world.all();
    expect(again).toMatchObject({ body: 'b', version: 1 });
    if (again) expect(await world.store.update(again, { ...again, body: 'd' })).toBe(true);
  });
});
