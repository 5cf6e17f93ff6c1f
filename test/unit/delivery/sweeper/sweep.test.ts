import { beforeEach, describe, expect, it } from 'vitest';
import { type Delivery, settled } from '../../../../lambdas/delivery/delivery.ts';
import { replayShard } from '../../../../lambdas/delivery/store/delivery-item.ts';
import type { DueEntry } from '../../../../lambdas/delivery/store/due-index.ts';
import { makeSweep } from '../../../../lambdas/delivery/sweeper/sweep.ts';
import { dueNow, scheduled } from '../../../../lambdas/delivery/transitions.ts';
import { useDeliveryWorld, world } from '../../../support/delivery-world/use-delivery-world.ts';
import { aDelivery, answer, noon } from '../builders.ts';

const minute = 60_000;

useDeliveryWorld();
beforeEach(() => void world.publishEvent());

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
    expect(world.logged('delivery.overdue')).toBe(1);
    // Its entry stays, so that each sweep sees how late it is.
    expect(entry()).toMatchObject({ dueAt, claimedUntil: due + 6 * minute });
  });

  it('does not send what it could not claim, whatever the index says', async () => {
    world.answers.push(answer(503, { 'retry-after': '3600' }));
    await world.step('first');
    await world.pass(60 * minute);
    expect(await world.sweep({ afterCalls: 7, hasEffect: true })).toBe(false);
    expect(world.waiting('retries')).toEqual([]);
    await world.sweep();
    expect(world.waiting('retries')).toEqual([]);
    await world.pass(2 * minute);
    await world.sweep();
    expect(world.waiting('retries')).toHaveLength(1);
  });

  // The index is behind what was read of it.
  it.each<[string, (read: Delivery, now: number) => Delivery]>([
    ['its attempt was recorded meanwhile', (read, now) => settled(read, 'delivered', now)],
    ['it is due later by now', (read, now) => scheduled(read, now, 3 * minute)],
  ])('sends nothing when %s', async (_, change) => {
    await loseRetry();
    await world.pass(5 * minute);
    const read = world.only();
    world.between('BatchGetCommand', () => world.store.update(read, change(read, world.now())));
    await world.sweep();
    expect(world.waiting('retries')).toEqual([]);
    expect(world.logged('delivery.overdue')).toBe(0);
  });

  it('goes on where the queue takes none of a call, ten at most, and sends them in the next sweep', async () => {
    const all = Array.from({ length: 200 }, (_, at) => dueNow(aDelivery({ id: `evt_${at}`, attempt: 2 }), noon));
    await Promise.all(all.map(world.store.create));
    await world.pass(3 * minute);
    world.between('SendMessageBatchCommand', () => Promise.reject(new Error('the queue is down: canary-7f3a')));
    await world.sweep();
    const failed = 200 - world.lose('retries').length;
    expect([failed > 0, failed <= 10]).toEqual([true, true]);
    const logged = world.lines.map(line => JSON.parse(line)).filter(([name]) => name === 'delivery.not_sent');
    expect(logged).toMatchObject([['delivery.not_sent', { failed, errorName: 'Error' }]]);
    expect(world.lines.join()).not.toContain('canary-7f3a');
    await world.pass(minute);
    await world.sweep();
    expect(world.lose('retries')).toHaveLength(failed);
  });

  // Bug: while SQS refused, each sweep claimed all that was due, and it then waited for as long as SQS had been down.
  it('begins no further page while a queue is down, and sends all of it in the first sweep after that', async () => {
    const all = Array.from({ length: 600 }, (_, at) => dueNow(aDelivery({ id: `evt_${at}`, attempt: 2 }), noon));
    await Promise.all(all.map(world.store.create));
    let isDown = true;
    const refuse = async () => {
      if (!isDown) return;
      world.between('SendMessageBatchCommand', refuse);
      throw new Error('the queue is down');
    };
    world.between('SendMessageBatchCommand', refuse);
    await world.pass(2 * minute);
    for (let sweeps = 1; sweeps <= 3; sweeps++) {
      await world.pass(minute);
      await world.sweep();
      expect(world.logged('delivery.overdue')).toBeLessThanOrEqual(sweeps * 400); // a page of 100 of each of 4 shards
    }
    isDown = false;
    await world.pass(minute);
    await world.sweep();
    expect(world.waiting('retries')).toHaveLength(600);
  });

  // One that failed kept the rest of its page from being sent, though it was claimed, and its shard from being read on.
  it('sends all that it has claimed where one claim fails, and reports that', async () => {
    const waits = Array.from({ length: 300 }, (_, at) =>
      scheduled(aDelivery({ id: `evt_${at}`, attempt: 2 }), noon, 30 * minute),
    );
    await Promise.all(waits.map(world.store.create));
    await world.pass(30 * minute);
    world.between('UpdateCommand', () => Promise.reject(new Error('the store is down')));
    await expect(world.sweep()).rejects.toThrow('The sweep failed: Error');
    expect(world.waiting('retries')).toHaveLength(299);
  });

  // Bug: each further page added to the load that the table had refused.
  it('sends what a throttled page has claimed, begins no further one, and says how often it was throttled', async () => {
    const throttle = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    await Promise.all(
      Array.from({ length: 600 }, (_, at) =>
        world.store.create(scheduled(aDelivery({ id: `evt_${at}`, attempt: 2 }), noon, 30 * minute)),
      ),
    );
    await world.pass(30 * minute);
    for (let at = 0; at < 3; at++) world.between('UpdateCommand', () => Promise.reject(throttle));
    await expect(world.sweep()).rejects.toThrow('The sweep failed: ThrottlingException (3 times)');
    const claimed = world.deliveries().filter(({ wait }) => wait?.claimedUntil).length;
    expect(world.waiting('retries')).toHaveLength(claimed);
    expect(claimed).toBeLessThan(450); // a page of 100 of each of 4 shards, and the second of some
  });

  it('reports what failed after it has swept the rest', async () => {
    await loseRetry();
    await world.pass(5 * minute);
    world.between('QueryCommand', () => Promise.reject(new Error('the store is down')));
    await expect(world.sweep()).rejects.toThrow('The sweep failed: Error');
    expect(world.waiting('retries')).toHaveLength(1);
  });

  it('names as its cause what tells that the store throttles, where several things failed', async () => {
    const throttle = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    const failures = [new Error('the store is down'), throttle];
    world.between('QueryCommand', () => Promise.reject(failures[0]));
    world.between('QueryCommand', () => Promise.reject(failures[1]));
    const error = await world.sweep().catch((error: unknown) => error);
    expect(error).toMatchObject({ message: 'The sweep failed: Error, ThrottlingException', cause: throttle });
  });

  // A backlog of deliveries that were due hid the tasks: replays and announcements got no time at all.
  it('runs tasks along with deliveries, a few at once, however many there are of either', async () => {
    const store = {
      due: async (shard: string, after?: DueEntry) => {
        await new Promise(setImmediate);
        const page = Number(after?.id.split('#')[1] ?? -1) + 1;
        if (shard !== replayShard) return [{ id: `evt#${page}`, dueShard: shard, dueAt: '' }]; // there is no end of them
        return page === 2 ? [] : Array.from({ length: 5 }, () => ({ id: `task#${page}`, dueShard: shard, dueAt: '' }));
      },
      read: async () => [],
      claim: async () => true,
      update: async () => true,
    };
    let done = 0;
    let atOnce = 0;
    let most = 0;
    const task = async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      if (++done === 3) throw new Error('this one fails');
    };
    const queue = { sendAll: async () => [] };
    const sweep = makeSweep({ ...world, store, retryQueue: queue, continueReplay: task });
    await expect(sweep(() => done < 10)).rejects.toThrow('The sweep failed: Error');
    expect([done, most]).toEqual([10, 3]);
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
