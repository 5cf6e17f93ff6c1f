import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { replayShard } from '../../../../lambdas/delivery/store/delivery-item.ts';
import type { DueEntry } from '../../../../lambdas/delivery/store/due-index.ts';
import { makeSweep } from '../../../../lambdas/delivery/sweeper/sweep.ts';
import { dueNow, scheduled } from '../../../../lambdas/delivery/transitions.ts';
import { makeStage, type Stage } from '../../../support/stage.ts';
import { aDelivery, answer, aRecord, noon } from '../builders.ts';

const minute = 60_000;

let stage: Stage;
beforeEach(async () => {
  stage = makeStage();
  await stage.register();
});

/** The outcome is stored, and the process dies before it sends the retry. */
const loseRetry = async () => {
  stage.answers.push(answer(500));
  stage.faults.fateOf = ({ operation }) => (operation === 'SendMessageBatch' ? 'dies_before' : 'fine');
  stage.publishEvent();
  await stage.pass(1);
  stage.faults.fateOf = undefined;
  expect(stage.only()).toMatchObject({ state: 'pending', attempt: 2, wait: { nextAttemptAt: noon + 4_500 } });
};
/** Stores deliveries whose message a sweep has to send at a moment that is no full minute. */
const storeWaits = async (number: number) => {
  const sweepAt = noon + 29.5 * minute;
  for (let at = 0; at < number; at++) {
    const delivery = aDelivery({ id: `evt_${at}`, attempt: 2 });
    await stage.store.create(scheduled(delivery, noon, sweepAt + minute - noon));
  }
  await stage.run(sweepAt);
};
/** Has the claims of some deliveries fail. */
const refuseClaims = (ids: readonly string[], error: Error) => {
  const { execute } = stage.tables;
  vi.spyOn(stage.tables, 'execute').mockImplementation(command => {
    if (command instanceof UpdateCommand && ids.includes(command.input.Key?.id)) throw error;
    return execute(command);
  });
};
const throttle = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });

describe('the sweeper', () => {
  it('sends a retry whose message was lost, once it is 2 min overdue', async () => {
    await loseRetry();
    await stage.run(noon + 4_500 + 2 * minute - 1);
    await stage.sweep();
    expect(stage.posts).toHaveLength(1);
    await stage.pass(1);
    await stage.sweep();
    await stage.pass(1);
    expect(stage.posts).toHaveLength(2);
    expect(stage.only()).toMatchObject({ state: 'delivered' });
  });

  it('sends the message of a long wait in its last minute, once, with the rest of the delay, and again if that is lost', async () => {
    const entry = () => stage.items().find(({ id }) => String(id).startsWith('evt_'));
    stage.answers.push(answer(503, { 'retry-after': '3630' }));
    stage.publishEvent();
    await stage.pass(1);
    const { dueAt } = entry() ?? {};
    const due = noon + 60.5 * minute;
    await stage.run(due - minute - 1);
    await stage.sweep();
    expect(stage.waiting('retries')).toEqual([]);
    await stage.pass(1);
    await Promise.all([stage.sweep(), stage.sweep()]);
    expect(stage.lose('retries')).toMatchObject([{ visibleAt: due }]);
    expect(entry()).toMatchObject({ dueAt, claimedUntil: due + 2 * minute });
    await stage.run(due + 2 * minute - 1);
    await stage.sweep();
    expect(stage.posts).toHaveLength(1);
    await stage.pass(1);
    await stage.sweep();
    expect(stage.logged('delivery.overdue')).toBe(1);
    await stage.settle();
    expect(stage.posts).toHaveLength(2);
  });

  // Bug: while SQS refused, each sweep claimed all that was due, and it then waited for as long as SQS had been down.
  it('begins no further page while a queue is down, and sends all of it in the first sweep after that', async () => {
    for (let at = 0; at < 600; at++) await stage.store.create(dueNow(aDelivery({ id: `evt_${at}`, attempt: 2 }), noon));
    stage.faults.fateOf = ({ service }) => (service === 'sqs' ? 'failed' : 'fine');
    await stage.run(noon + 1.5 * minute);
    for (let sweeps = 1; sweeps <= 3; sweeps++) {
      await stage.pass(minute);
      expect(stage.logged('delivery.overdue')).toBeLessThanOrEqual(sweeps * 400); // a page of 100 of each of 4 shards
    }
    const logged = stage.lines.map(line => JSON.parse(line)).filter(([name]) => name === 'delivery.not_sent');
    expect(logged[0]).toMatchObject(['delivery.not_sent', { failed: 10, errorName: 'InternalServerError' }]);
    stage.faults.fateOf = undefined;
    await stage.pass(minute);
    await stage.settle();
    expect(stage.posts.filter(({ at }) => at <= noon + 5.5 * minute)).toHaveLength(600);
  });

  // One that failed kept the rest of its page from being sent, though it was claimed, and its shard from being read on.
  it('sends all that it has claimed if one claim fails, and reports that', async () => {
    await storeWaits(300);
    refuseClaims(['evt_0'], new Error('the store is down'));
    await expect(stage.sweep()).rejects.toThrow('The sweep failed: Error');

    expect(stage.waiting('retries')).toHaveLength(299);
  });

  // Bug: each further page added to the load that the table had refused.
  it('begins no further page once the table throttles, and says how often it did', async () => {
    let pages = 0;
    const store = {
      due: async (shard: string) => {
        await new Promise(setImmediate);
        if (shard === replayShard || ++pages > 100) return [];
        return [{ id: `evt_${pages}`, dueShard: shard, dueAt: '' }];
      },
      read: async (ids: readonly string[]) => ids.map(id => dueNow(aDelivery({ id }), 0)),
      claim: () => Promise.reject(throttle),
      update: async () => true,
    };
    const queue = { sendAll: async () => [] };
    const sweep = makeSweep({ ...stage, store, retryQueue: queue, continueReplay: async () => undefined });
    await expect(sweep(() => true)).rejects.toThrow(/^The sweep failed: ThrottlingException \(\d times\)$/);
    expect(pages).toBeLessThan(10);
  });

  it('reports what failed after it has swept the rest, and names throttling as the cause', async () => {
    await storeWaits(1);
    const { execute } = stage.tables;
    const failures = [new Error('the store is down'), throttle];
    vi.spyOn(stage.tables, 'execute').mockImplementation(command => {
      const isOfReplays = command instanceof QueryCommand && JSON.stringify(command.input).includes(replayShard);
      const isOfWebhooks = command instanceof QueryCommand && command.input.TableName === 'Webhooks';
      const failure = isOfReplays ? failures[0] : isOfWebhooks ? failures[1] : undefined;
      if (failure) throw failure;
      return execute(command);
    });
    const error = await stage.sweep().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringMatching(/^The sweep failed: Error/) });
    expect(stage.waiting('retries')).toHaveLength(1);
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
    const sweep = makeSweep({ ...stage, store, retryQueue: queue, continueReplay: task });
    await expect(sweep(() => done < 10)).rejects.toThrow('The sweep failed: Error');
    expect([done, most]).toEqual([10, 3]);
  });

  it('ends a delivery whose attempts are not recorded for ten days', async () => {
    const scheduledAt = noon - 10 * 24 * 60 * minute;
    await stage.store.create(dueNow(aDelivery({ attempt: 2, attempts: [aRecord()], scheduledAt }), noon - 3 * minute));
    await stage.sweep();
    expect(stage.waiting('retries')).toEqual([]);
    expect(stage.only()).toMatchObject({
      state: 'failed',
      attempts: [{ result: 'http' }, { number: 2, result: 'internal' }],
    });
  });
});
