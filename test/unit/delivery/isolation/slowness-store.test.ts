import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { slownessId } from '../../../../lambdas/delivery/isolation/slow-since.ts';
import {
  isSlow,
  nextSlots,
  slotInterval,
  withDuration,
  withSlowAttempts,
  withSlowDns,
} from '../../../../lambdas/delivery/isolation/slowness.ts';
import {
  makeSlownessStore,
  type StoredSlowness,
  slownessOf,
} from '../../../../lambdas/delivery/isolation/slowness-store.ts';
import { dueShards, taskShard } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { headKey } from '../../../../lambdas/delivery/store/head-key.ts';
import { frozenClock } from '../../../support/clock.ts';
import { startDatabase } from '../../../support/database/database.ts';
import { aWebhook, noon } from '../builders.ts';

const minute = 60_000;
const database = await startDatabase('Deliveries');
afterAll(() => database.stop());

const clock = frozenClock();
let accounts = 0;
let owner: { accountId: string; eventName: 'demanda.criada' };
beforeEach(() => {
  clock.set(noon);
  owner = { accountId: `conta-${++accounts}`, eventName: 'demanda.criada' };
});

/** The store as one process has it. `rate` slots a second. */
const storeAt = (rate = 20) =>
  makeSlownessStore({ dynamo: database.dynamo, table: 'Deliveries', now: clock.now, rate });
const itemOf = async () => {
  const { key: Key } = headKey('Deliveries', slownessId(owner));
  return (await database.dynamo(new GetCommand({ TableName: 'Deliveries', Key, ConsistentRead: true }))).Item;
};
/** Reserves the next slot. */
const reserve = async (slowness: StoredSlowness, rate = 20) => (await storeAt(rate).reserve(slowness, 1))?.firstAt;
/** The slots, where those before a moment are taken. */
const until = (slowness: StoredSlowness, nextSlotAt: number) => ({
  ...nextSlots(slowness, slotInterval(slowness, 20), noon).after,
  nextSlotAt,
});
const known = async (): Promise<StoredSlowness> => slownessOf(owner, await itemOf());
const many = <Result>(count: number, make: (at: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)));
const tasks = async () => {
  const store = makeDeliveryStore({ ...clock.time, dynamo: database.dynamo, table: 'Deliveries' });
  const all = (await Promise.all([taskShard, ...dueShards].map(shard => store.due(shard)))).flat();
  return all.filter(({ id }) => id === slownessId(owner));
};

describe('what is known of how slowly a receiver answers', () => {
  it('is given back as it was changed', async () => {
    const store = storeAt();
    expect(await store.read(slownessId(owner))).toBeUndefined();
    await store.change(owner, slowness => withSlowAttempts(slowness, { slow: 2, quick: 3 }, noon));
    expect(await store.read(slownessId(owner))).toMatchObject({
      ...owner,
      tallies: [{ at: noon, slow: 2, quick: 3 }],
      slowSince: noon,
      reachedAt: noon,
      hold: minute,
    });
  });

  it('is not written where nothing changes', async () => {
    database.operations.length = 0;
    await storeAt().change(owner, () => undefined);
    expect(database.operations).toEqual(['BatchGetItemCommand']);
    expect(await itemOf()).toBeUndefined();
  });

  it('loses no record of an attempt beside slots that are reserved and arrivals that begin to wait', async () => {
    const slowness = await storeAt().change(owner, before => withSlowDns(before, noon));
    await Promise.all([
      many(5, () => storeAt().change(owner, before => withSlowAttempts(before, { slow: 1, quick: 0 }, noon))),
      many(10, () => reserve(slowness)),
      many(5, () => storeAt().beginWaiting(slowness)),
    ]);
    expect(await known()).toMatchObject({
      tallies: [{ slow: 5 }],
      nextSlotAt: noon + 10 * 250,
      backlogAt: noon,
      waitingAt: noon,
    });
  });

  it('says what is stored where it lost every race', async () => {
    let races = 0;
    const other = storeAt();
    const busy = makeSlownessStore({
      dynamo: async command => {
        if (races++ % 2 === 1)
          await other.change(owner, before => withSlowAttempts(before, { slow: 1, quick: 99 }, noon));
        return database.dynamo(command);
      },
      table: 'Deliveries',
      now: clock.now,
      rate: 20,
    });
    const said = await busy.change(owner, slowness => withSlowDns(slowness, noon));
    expect(isSlow(said)).toBe(false);
    expect(said).toEqual(await known());
  });

  // Callers have a webhook at hand, whose fields are more than the owner's.
  it('holds nothing of the webhook: no URL, no credential, no secret', async () => {
    const webhook = aWebhook({ ...owner, sealedAuthorization: 'canary-authorization', failingSince: 1 });
    await storeAt().change(webhook, slowness => withSlowDns(slowness, noon));
    await storeAt().beginWaiting(await known());
    const names = [
      'accountId',
      'eventName',
      'id',
      'part',
      'tallies',
      'version',
      'slowSince',
      'reachedAt',
      'hold',
      'longestAttempt',
      'ttl',
    ];
    const backlog = ['backlogAt', 'waitingAt', 'dueAt', 'dueShard'];
    expect(Object.keys((await itemOf()) ?? {}).toSorted()).toEqual([...names, ...backlog].toSorted());
    expect(JSON.stringify(await itemOf())).not.toContain('canary');
  });

  it('is cleaned up long after whatever may wait has ended', async () => {
    await storeAt().change(owner, slowness => withDuration(slowness, 15_000, noon));
    expect(((await itemOf())?.ttl ?? 0) - noon / 1_000).toBeGreaterThanOrEqual(40 * 24 * 60 * 60);
  });
});

describe('the slots of a slow webhook', () => {
  it('are each given once, spaced by the interval, several in a row by one write', async () => {
    const stale = await known();
    database.operations.length = 0;
    const blocks = await Promise.all([1, 10, 3].map(slots => storeAt().reserve(stale, slots)));
    const slots = blocks.flatMap((block, at) =>
      Array.from({ length: [1, 10, 3][at] ?? 0 }, (_, slot) => (block ? block.firstAt + slot * block.interval : 0)),
    );
    expect(slots.toSorted((one, other) => one - other)).toEqual(slots.map((_, at) => noon + at * 50));
    expect(await known()).toMatchObject({ nextSlotAt: noon + 14 * 50 });
  });

  it('are not given more than a minute ahead, also to those who know nothing of the others', async () => {
    const stale = await known();
    const slots = await many(75, () => reserve(stale, 1));
    const given = slots.filter(slot => slot !== undefined);
    expect(given).toHaveLength(61);
    expect(Math.max(...given)).toBe(noon + minute);
    database.operations.length = 0;
    expect(await reserve(await known(), 1)).toBeUndefined();
    expect(database.operations).toEqual(['GetItemCommand']); // nothing is written where that is known already
  });

  it('begin a new series where the pace is slower than that of those that are taken', async () => {
    const quick = await storeAt().change(owner, before => withDuration(before, 2_500, noon));
    for (let block = 0; block < 30; block++) expect(await storeAt().reserve(quick, 10)).toMatchObject({ series: 0 });
    const slower = await storeAt().change(owner, before => withDuration(before, 15_000, noon));
    clock.advance(5_000);
    const moment = noon + 5_000;
    const blocks = await many(5, () => storeAt().reserve(slower, 2));
    expect(blocks.map(block => block?.series)).toEqual([1, 1, 1, 1, 1]);
    const slots = blocks.map(block => block?.firstAt ?? 0).toSorted((one, other) => one - other);
    expect(slots).toEqual(slots.map((_, at) => moment + at * 500));
    expect(await known()).toMatchObject({ nextSlotAt: moment + 2_500, slotSeries: 1, seriesInterval: 250 });
    // Who read before that the receiver was quick reads again: the new series has slots of the new pace only.
    expect(await storeAt().reserve(quick, 1)).toEqual({ firstAt: moment + 2_500, interval: 250, series: 1 });
    expect(await storeAt().reserveUntil(quick, until(quick, noon + 90_000))).toBe(false);
  });

  it('are taken by the sweeper, unless somebody reserved one meanwhile', async () => {
    const slowness = await storeAt().change(owner, before => withSlowDns(before, noon));
    const results = await many(5, () => storeAt().reserveUntil(slowness, until(slowness, noon + 30_000)));
    expect(results.filter(Boolean)).toHaveLength(1);
    const then = await known();
    expect(then.nextSlotAt).toBe(noon + 30_000);
    expect(await reserve(slowness)).toBe(noon + 30_000);
    expect(await storeAt().reserveUntil(then, until(then, noon + 40_000))).toBe(false);
  });
});

describe('the backlog of a slow webhook', () => {
  it('makes a task of the sweeper, once', async () => {
    await many(10, async () => storeAt().beginWaiting(await known()));
    expect(await tasks()).toHaveLength(1);
    expect(await storeAt().read(slownessId(owner))).toMatchObject({ ...owner, backlogAt: noon, waitingAt: noon });
  });

  it('is renewed by arrivals every 30 s only', async () => {
    await storeAt().beginWaiting(await known());
    clock.advance(29_999);
    database.operations.length = 0;
    const slowness = await known();
    await many(3, () => storeAt().beginWaiting(slowness));
    expect(database.operations).toEqual(['GetItemCommand']);
    clock.advance(1);
    await storeAt().beginWaiting(slowness);
    expect(await known()).toMatchObject({ backlogAt: noon, waitingAt: noon + 30_000 });
    expect((await known()).dueAt).toBe(slowness.dueAt);
  });

  it('does not end where something began to wait meanwhile: neither the backlog nor the task', async () => {
    await storeAt().beginWaiting(await known());
    const seen = await known();
    clock.advance(31_000);
    await storeAt().beginWaiting(seen);
    await storeAt().endBacklog(seen);
    expect(await storeAt().endWaiting(seen)).toBe(false);
    expect(await known()).toMatchObject({ backlogAt: noon, waitingAt: noon + 31_000 });
    expect(await tasks()).toHaveLength(1);
  });
});
