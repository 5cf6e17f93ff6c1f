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

type SweepDependencies = Parameters<typeof makeSweep>[0];

/** A sweeper over a store in which the same delivery waits wherever it looks. */
const sweepOver = (
  changes: Partial<SweepDependencies['store']>,
  { sendAll = async () => 0, tasks = {} }: Partial<Pick<SweepDependencies, 'tasks'> & AnyQueue> = {},
) => {
  const telemetry = fakeTelemetry();
  const store = {
    due: async () => [],
    read: async () => [waiting(noon)],
    claim: async () => true,
    update: async () => true,
    expire: async () => false,
    ...changes,
  };
  const queues = { retry: { sendAll }, slow: { sendAll } };
  const sweep = makeSweep({ ...telemetry, store, queues, tasks, now: frozenClock().now });
  return { ...telemetry, run: (hasTime = () => true) => sweep(hasTime) };
};
type AnyQueue = SweepDependencies['queues']['retry'];

let world: DeliveryWorld;
beforeEach(async () => {
  world = makeDeliveryWorld();
  await world.register();
  world.publishEvent();
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

  it('sends the message of a long wait in its last minute, once, with the rest of the delay, and again where that is lost', async () => {
    const entry = () => world.items().find(({ id }) => id.startsWith('evt_'));
    world.answers.push(answer(503, { 'retry-after': '3600' }));
    await world.step('first');
    const { dueAt } = entry() ?? {};
    await world.pass(59 * minute - 1);
    await world.sweep();
    expect(world.waiting('retries')).toEqual([]);
    await world.pass(30_001);
    await Promise.all([world.sweep(), world.sweep()]);
    await world.sweep();
    const due = world.now() + 30_000;
    expect(world.lose('retries')).toMatchObject([{ visibleAt: due }]);
    expect(entry()).toMatchObject({ dueAt, claimedUntil: due + 2 * minute });
    await world.run(due + 2 * minute - 1);
    await world.sweep();
    expect(world.waiting('retries')).toEqual([]);
    await world.pass(1);
    await Promise.all([world.sweep(), world.sweep()]);
    expect(world.waiting('retries')).toHaveLength(1);
    expect(world.counts).toMatchObject({ SweptDue: 1, SweptOverdue: 1 });
    // Its entry stays, so that each sweep sees how late it is.
    expect(entry()).toMatchObject({ dueAt, claimedUntil: due + 6 * minute });
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
    const sendAll = async (all: readonly WaitingDelivery[]) => sent.push(...all) * 0;
    const due = async (dueShard: string, after?: DueEntry) =>
      dueShard === '0' && !after ? [{ id: 'evt_1', dueShard, dueAt: '' }] : [];
    await sweepOver({ due, ...changes }, { sendAll }).run();
    expect(sent).toEqual([]);
    await sweepOver({ due }, { sendAll }).run();
    expect(sent).toHaveLength(1);
  });

  it('goes on when the queue refuses a message, and sends it at the next look', async () => {
    const due = async (dueShard: string, after?: DueEntry) => (after ? [] : [{ id: 'evt_1', dueShard, dueAt: '' }]);
    const read = async () => Array.from({ length: 11 }, () => waiting(noon));
    const sendAll = async (all: readonly WaitingDelivery[]) => {
      if (all.length === 10) throw new Error('the queue is down');
      return 1;
    };
    const { run, counts } = sweepOver({ due, read }, { sendAll });
    await run();
    expect(counts).toMatchObject({ AttemptNotSent: 16 * 11 });
  });

  it('reports a failed shard after sweeping the others', async () => {
    const seen: string[] = [];
    const due = async (shard: string) => {
      seen.push(shard);
      if (shard === '3') throw new Error('the store is down');
      return [];
    };
    await expect(sweepOver({ due }).run()).rejects.toThrow('The sweep failed: Error');
    expect(seen.toSorted()).toEqual([taskShard, ...dueShards].toSorted());
  });

  // A backlog of deliveries that were due hid the tasks: slots, replays and announcements got no time at all.
  it('runs tasks along with deliveries, a few at once, however many there are of either', async () => {
    const due = async (shard: string, after?: DueEntry) => {
      await new Promise(setImmediate);
      const page = Number(after?.id.split('#')[1] ?? -1) + 1;
      if (shard !== taskShard) return [{ id: `evt#${page}`, dueShard: shard, dueAt: '' }]; // there is no end of them
      return page === 2 ? [] : Array.from({ length: 5 }, () => ({ id: `task#${page}`, dueShard: shard, dueAt: '' }));
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
    const { run } = sweepOver({ due, read: async () => [] }, { tasks: { task } });
    await expect(run(() => done < 10)).rejects.toThrow('The sweep failed: Error');
    expect([done, most]).toEqual([10, 3]);
  });

  it('counts each expiring held delivery once, before it is cleaned up', async () => {
    await world.register({ status: 'suspended', suspensionReason: 'operator' });
    world.publishEvent();
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
