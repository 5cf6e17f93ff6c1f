import { beforeEach, describe, expect, it } from 'vitest';
import type { WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { dueShards, taskShard } from '../../../../lambdas/delivery/store/delivery-item.ts';
import type { DueEntry } from '../../../../lambdas/delivery/store/due-index.ts';
import { makeSweep } from '../../../../lambdas/delivery/sweeper/sweep.ts';
import { waitingForSlot } from '../../../../lambdas/delivery/transitions.ts';
import { frozenClock } from '../../../support/clock.ts';
import { type DeliveryWorld, makeDeliveryWorld } from '../../../support/delivery-world/delivery-world.ts';
import { aDelivery, answer, fakeTelemetry, noon } from '../builders.ts';

const minute = 60_000;

const waiting = (sweepAt: number): WaitingDelivery => ({
  ...aDelivery({ id: 'evt_1', attempt: 2 }),
  wait: { nextAttemptAt: sweepAt, sweepAt, overdueCount: 0 },
});

let world: DeliveryWorld;
beforeEach(async () => {
  world = makeDeliveryWorld();
  await world.register();
  world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 7 });
});

/** The outcome is stored, and the process dies before the retry is sent. */
const loseRetry = async () => {
  world.answers.push(answer(500));
  await world.step('first', { afterCalls: 3, hasEffect: false });
  expect(world.deliveries()).toMatchObject([{ state: 'pending', attempt: 2 }]);
  expect(world.waiting('retries')).toEqual([]);
};

describe('the sweeper', () => {
  it('sends a retry whose message was lost, once it is 2 min overdue', async () => {
    await loseRetry();
    await world.pass(4_500 + 2 * minute - 1);
    await world.sweep();
    expect(world.waiting('retries')).toHaveLength(0);
    await world.pass(1);
    await world.sweep();
    expect(world.waiting('retries')).toHaveLength(1);
    await world.settle();
    expect(world.deliveries()).toMatchObject([{ state: 'delivered' }]);
  });

  it('doubles the wait before it sends it again', async () => {
    await loseRetry();
    const times: number[] = [];
    for (let passed = 0; passed <= 32; passed++) {
      await world.sweep();
      if (world.lose('retries').length > 0) times.push(passed);
      await world.pass(minute);
    }
    expect(times).toEqual([3, 7, 15, 31]);
    expect(world.counts).toMatchObject({ SweptOverdue: 4 });
  });

  it('sends the message of a long wait in its last minute, once, with the rest of the delay', async () => {
    world.answers.push(answer(503, { 'retry-after': '3600' }));
    await world.step('first');
    expect(world.waiting('retries')).toEqual([]);
    await world.pass(59 * minute - 1);
    await world.sweep();
    expect(world.waiting('retries')).toEqual([]);
    await world.pass(30_001);
    await Promise.all([world.sweep(), world.sweep()]);
    await world.sweep();
    expect(world.waiting('retries')).toHaveLength(1);
    expect(world.waiting('retries')[0]?.visibleAt).toBe(world.now() + 30_000);
  });

  it('does not send what it could not claim, whatever the index says', async () => {
    world.answers.push(answer(503, { 'retry-after': '3600' }));
    await world.step('first');
    await world.pass(60 * minute);
    expect(await world.sweep({ afterCalls: 20, hasEffect: true })).toBe(false);
    expect(world.waiting('retries')).toEqual([]);
    await world.sweep();
    expect(world.waiting('retries')).toEqual([]);
    await world.pass(2 * minute);
    await world.sweep();
    expect(world.waiting('retries')).toHaveLength(1);
  });

  it.each([
    ['another sweeper was quicker', { claim: async () => false }],
    ['its attempt was recorded meanwhile', { read: async () => [] }],
    ['the index is ahead of the delivery', { read: async () => [waiting(noon + 1)] }],
    [
      'it waits for a slot by now',
      { read: async () => [waitingForSlot(aDelivery({ id: 'evt_1', attempt: 2 }), noon)] },
    ],
  ])('sends nothing when %s', async (_, changes) => {
    const sent: WaitingDelivery[] = [];
    const store = {
      due: async (dueShard: string, after?: DueEntry) =>
        dueShard === '0' && !after ? [{ id: 'evt_1', dueShard, dueAt: '' }] : [],
      read: async () => [waiting(noon)],
      claim: async () => true,
      update: async () => true,
      expire: async () => false,
      ...changes,
    };
    const queue = { sendAll: async (all: readonly WaitingDelivery[]) => sent.push(...all) * 0 };
    const queues = { retry: queue, slow: queue };
    const { now } = frozenClock();
    await makeSweep({ ...fakeTelemetry(), store, queues, tasks: {}, now })(() => true);
    expect(sent).toEqual([]);
    await makeSweep({
      ...fakeTelemetry(),
      store: { ...store, read: async () => [waiting(noon)], claim: async () => true },
      queues,
      tasks: {},
      now,
    })(() => true);
    expect(sent).toHaveLength(1);
  });

  it('goes on when the queue refuses a message, and sends it at the next look', async () => {
    const store = {
      due: async (dueShard: string, after?: DueEntry) => (after ? [] : [{ id: 'evt_1', dueShard, dueAt: '' }]),
      read: async () => Array.from({ length: 11 }, () => waiting(noon)),
      claim: async () => true,
      update: async () => true,
      expire: async () => false,
    };
    const telemetry = fakeTelemetry();
    const sendAll = async (all: readonly WaitingDelivery[]) => {
      if (all.length === 10) throw new Error('the queue is down');
      return 1;
    };
    const queues = { retry: { sendAll }, slow: { sendAll } };
    await makeSweep({ ...telemetry, store, queues, tasks: {}, now: frozenClock().now })(() => true);
    expect(telemetry.counts).toMatchObject({ AttemptNotSent: 16 * 11 });
  });

  it('reports a failed shard after sweeping the others', async () => {
    const seen: string[] = [];
    const store = {
      due: async (shard: string) => {
        seen.push(shard);
        if (shard === '3') throw new Error('the store is down');
        return [];
      },
      read: async () => [],
      claim: async () => true,
      update: async () => true,
      expire: async () => false,
    };
    const queue = { sendAll: async () => 0 };
    const queues = { retry: queue, slow: queue };
    const sweep = makeSweep({ ...fakeTelemetry(), store, queues, tasks: {}, now: frozenClock().now });
    await expect(sweep(() => true)).rejects.toThrow('The sweep failed: Error');
    expect(seen.toSorted()).toEqual([taskShard, ...dueShards].toSorted());
  });

  // A backlog of deliveries that were due hid the tasks: slots, replays and announcements got no time at all.
  it('runs tasks along with deliveries, a few at once, however many there are of either', async () => {
    const store = {
      due: async (shard: string, after?: DueEntry) => {
        await new Promise(setImmediate);
        const page = Number(after?.id.split('#')[1] ?? -1) + 1;
        if (shard !== taskShard) return [{ id: `evt#${page}`, dueShard: shard, dueAt: '' }]; // there is no end of them
        return page === 2 ? [] : Array.from({ length: 5 }, () => ({ id: `task#${page}`, dueShard: shard, dueAt: '' }));
      },
      read: async () => [],
      claim: async () => true,
      update: async () => true,
      expire: async () => false,
    };
    let done = 0;
    let atOnce = 0;
    let most = 0;
    const task = async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      if (++done === 3) throw new Error('this one fails');
      return undefined;
    };
    const queue = { sendAll: async () => 0 };
    const dependencies = { ...fakeTelemetry(), store, queues: { retry: queue, slow: queue }, now: frozenClock().now };
    const sweep = makeSweep({ ...dependencies, tasks: { task } });
    await expect(sweep(() => done < 10)).rejects.toThrow('The sweep failed: Error');
    expect([done, most]).toEqual([10, 3]);
  });

  it('counts each expiring held delivery once, before it is cleaned up', async () => {
    await world.register({ status: 'suspended', suspensionReason: 'operator' });
    world.publish({ id_conta: 'conta-1', event: 'demanda.criada', id_demanda: 8 });
    while (await world.step('first'));
    const held = world.deliveries().filter(({ state }) => state === 'held').length;
    expect(held).toBeGreaterThan(0);
    await world.pass(29 * 24 * 60 * minute);
    await world.sweep();
    expect(world.counts).not.toHaveProperty('HeldExpired');
    await world.pass(23.5 * 60 * minute);
    await world.sweep();
    await world.sweep();
    expect(world.counts).toMatchObject({ HeldExpired: held });
    expect(world.items().some(({ dueAt, state }) => dueAt && state === 'held')).toBe(false);
  });

  it('ends a delivery whose attempts are not recorded for ten days', async () => {
    await loseRetry();
    await world.pass(10 * 24 * 60 * minute);
    await world.sweep();
    expect(world.waiting('retries')).toEqual([]);
    expect(world.deliveries()).toMatchObject([
      { state: 'failed', attempts: [{ result: 'http' }, { number: 2, result: 'internal' }] },
    ]);
  });
});
