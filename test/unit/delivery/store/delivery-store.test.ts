import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { WaitingDelivery } from '../../../../lambdas/delivery/delivery.ts';
import { type Delivery, settled } from '../../../../lambdas/delivery/delivery.ts';
import { dueShards } from '../../../../lambdas/delivery/store/delivery-item.ts';
import { makeDeliveryStore } from '../../../../lambdas/delivery/store/delivery-store.ts';
import { headKey } from '../../../../lambdas/delivery/store/head-key.ts';
import { frozenClock } from '../../../support/clock.ts';
import { startDatabase } from '../../../support/database/database.ts';
import { aDelivery, aRecord, aWebhook, noon } from '../builders.ts';

const day = 24 * 60 * 60_000;
const database = await startDatabase('Deliveries', 'Webhooks');
afterAll(() => database.stop());

const clock = frozenClock();
beforeEach(() => clock.set(noon));

const storeHere = () => makeDeliveryStore({ ...clock.time, dynamo: database.dynamo, table: 'Deliveries' });

let made = 0;
const freshId = () => `evt_${String(++made).padStart(27, '0')}`;
const waiting = (changes: Partial<Delivery> = {}): WaitingDelivery => ({
  ...aDelivery({ id: freshId(), attempt: 2, charged: 1, attempts: [aRecord({ response: '' })], ...changes }),
  wait: changes.wait ?? { nextAttemptAt: noon + 5_000, sweepAt: noon + 125_000, overdueCount: 0 },
});

const itemOf = async (id: string) =>
  (
    await database.dynamo(
      new GetCommand({ TableName: 'Deliveries', Key: headKey('Deliveries', id).key, ConsistentRead: true }),
    )
  ).Item;

const dueNow = async () =>
  (await Promise.all(dueShards.map(shard => storeHere().due(shard)))).flat().map(({ id }) => id);

describe('the store of deliveries', () => {
  it('gives back what it was given, in every state', async () => {
    const store = storeHere();
    const one = waiting();
    const other = settled(waiting(), 'failed', noon);
    await store.create(one);
    await store.create(other);
    expect(await store.read([one.id, other.id, 'evt_unknown', one.id])).toEqual([one, other]);
  });

  it('reads a delivery and its webhook in one round trip', async () => {
    const store = storeHere();
    const delivery = waiting();
    await store.create(delivery);
    await database.dynamo(new PutCommand({ TableName: 'Webhooks', Item: aWebhook() }));
    database.operations.length = 0;
    const other = { table: 'Webhooks', key: { accountId: 'conta-1', eventName: 'demanda.criada' } };
    expect(await store.readWith(delivery.id, [other])).toEqual([delivery, aWebhook()]);
    const unknown = { ...other, key: { ...other.key, accountId: 'x' } };
    expect(await store.readWith('evt_unknown', [unknown])).toEqual([undefined, undefined]);
    expect(database.operations).toEqual(['BatchGetItemCommand', 'BatchGetItemCommand']);
  });

  it('takes one first outcome of many copies', async () => {
    const store = storeHere();
    const delivery = waiting();
    const copies = Array.from({ length: 20 }, (_, copy) => ({ ...delivery, body: `copy ${copy}` }));
    const created = await Promise.all(copies.map(copy => store.create(copy)));
    expect(created.filter(Boolean)).toHaveLength(1);
    expect((await store.read([delivery.id]))[0]?.body).toBe(`copy ${created.indexOf(true)}`);
  });

  it('takes one outcome of each attempt, and none of an earlier one', async () => {
    const store = storeHere();
    const before = waiting();
    await store.create(before);
    const after = { ...before, attempt: 3 };
    const updated = await Promise.all(Array.from({ length: 10 }, () => store.update(before, after)));
    expect(updated.filter(Boolean)).toHaveLength(1);
    expect(await store.update(before, settled(before, 'delivered', noon))).toBe(false);
    const [stored = after] = await store.read([before.id]);
    expect(await store.update(stored, settled(stored, 'delivered', noon))).toBe(true);
    expect(await store.update(stored, stored)).toBe(false);
    expect((await store.read([before.id]))[0]?.state).toBe('delivered');
  });

  it('treats what is past its ttl as gone, though it is still there', async () => {
    const store = storeHere();
    const delivery = settled(waiting(), 'delivered', noon);
    await store.create(delivery);
    clock.advance(30 * day - 1_000);
    expect(await store.create(delivery)).toBe(false);
    expect(await store.read([delivery.id])).toHaveLength(1);
    clock.advance(1_000);
    expect(await store.read([delivery.id])).toHaveLength(0);
    expect(await store.create(delivery)).toBe(true);
  });

  it('keeps the index attributes of pending deliveries only, and the ttl of final ones', async () => {
    const store = storeHere();
    const pending = waiting();
    await store.create(pending);
    expect(await itemOf(pending.id)).toMatchObject({
      dueShard: expect.stringMatching(/^\d+$/),
      dueAt: `2026-11-20T12:02:05.000Z#${pending.id}`,
      listShard: 'conta-1#demanda.criada#undelivered',
      stateShard: 'conta-1#demanda.criada#pending',
      listKey: `2026-11-20T12:00:00.000Z#${pending.id}`,
    });
    expect(await itemOf(pending.id)).not.toHaveProperty('ttl');
    await store.update(pending, settled(pending, 'failed', noon));
    const item = await itemOf(pending.id);
    expect(item).not.toHaveProperty('dueShard');
    expect(item).not.toHaveProperty('dueAt');
    expect(item).toMatchObject({ ttl: noon / 1_000 + 30 * 24 * 60 * 60 });
    expect(item).toMatchObject({ stateShard: 'conta-1#demanda.criada#failed' });
  });
});

describe('what is due', () => {
  it('is what must be looked at by now', async () => {
    const store = storeHere();
    const sweepAt = noon - day;
    const delivery = waiting({ wait: { nextAttemptAt: sweepAt, sweepAt, overdueCount: 0 } });
    await store.create(delivery);
    clock.set(sweepAt - 1);
    expect(await dueNow()).not.toContain(delivery.id);
    clock.set(sweepAt);
    expect(await dueNow()).toContain(delivery.id);
  });

  it('is claimed once, and not after its attempt was recorded', async () => {
    const store = storeHere();
    const delivery = waiting();
    await store.create(delivery);
    const next = { ...delivery.wait, sweepAt: delivery.wait.sweepAt + 240_000, overdueCount: 1 };
    const claims = await Promise.all(Array.from({ length: 10 }, () => store.claim(delivery, next)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    const [claimed] = await store.read([delivery.id]);
    expect(claimed).toEqual({ ...delivery, wait: next, version: 1 });
    const waits = { ...delivery, wait: next, version: 1 };
    const resent = { ...next, claimedUntil: next.sweepAt + 1 };
    const again = await Promise.all(Array.from({ length: 10 }, () => store.claim(waits, resent)));
    expect(again.filter(Boolean)).toHaveLength(1);
    await store.update({ ...waits, version: 2 }, settled(delivery, 'delivered', noon));
    expect(await store.claim({ ...waits, version: 3 }, { ...next, overdueCount: 2 })).toBe(false);
    expect(await itemOf(delivery.id)).not.toHaveProperty('dueAt');
  });

  it('comes in pages, each after the last', async () => {
    const store = storeHere();
    const sweepAt = noon - 3 * day;
    const all = Array.from({ length: 600 }, () =>
      waiting({ wait: { nextAttemptAt: sweepAt, sweepAt, overdueCount: 0 } }),
    );
    await Promise.all(all.map(delivery => store.create(delivery)));
    clock.set(sweepAt);
    const found: string[] = [];
    for (const shard of dueShards) {
      let page = await store.due(shard);
      while (page.length > 0) {
        found.push(...page.map(({ id }) => id));
        page = await store.due(shard, page.at(-1));
      }
    }
    expect(found.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
  });
});

/** What becomes of one call. */
type Step = 'answered' | 'lost' | 'not made' | 'repeated by the SDK' | 'refused' | 'not read';

/** A store whose answers to writes get lost or refused. */
const troubled = (retryForMs: number, ...steps: readonly Step[]) => {
  const paused: number[] = [];
  const calls: string[] = [];
  const named = (name: string, more: object = {}) => Object.assign(new Error(name), { name, ...more });
  const send = async (command: PutCommand) => {
    if (!(command instanceof PutCommand)) {
      const isRead = steps[calls.length] !== 'not read';
      calls.push(isRead ? 'read' : 'not read');
      if (!isRead) throw named('ThrottlingException');
      return database.dynamo(command);
    }
    const step = steps[calls.length] ?? 'answered';
    calls.push(step);
    if (step === 'refused') throw named('ValidationException');
    if (step === 'not made') throw named('ThrottlingException');
    const answer = await database.dynamo(command);
    if (step === 'lost') throw named('TimeoutError');
    if (step === 'repeated by the SDK') {
      throw named('ConditionalCheckFailedException', { $metadata: { attempts: 2 } });
    }
    return answer;
  };
  const store = makeDeliveryStore({
    ...clock.time,
    dynamo: send as never,
    table: 'Deliveries',
    retryForMs,
    pause: async milliseconds => {
      paused.push(milliseconds);
      clock.advance(milliseconds);
    },
  });
  return { store, paused, calls };
};

// A starved machine POSTed 35 of 2,000 events twice.
describe('an outcome whose write gets no answer', () => {
  it.each<[string, Step[], number[]]>([
    [
      'is written again, with pauses, instead of being left to a second POST',
      ['not made', 'not made', 'not made'],
      [100, 200, 400],
    ],
    ['is known again where its own first try is what refuses the second', ['lost'], [100]],
    ['is known again where the SDK repeated it', ['repeated by the SDK'], []],
    ['is known again where the first look at it gets no answer', ['repeated by the SDK', 'not read'], [100]],
  ])('%s', async (_, steps, pauses) => {
    const { store, paused } = troubled(2_000, ...steps);
    const first = waiting();
    expect(await store.create(first)).toBe(true);
    expect(paused).toEqual(pauses);
    const after = settled(first, 'delivered', noon);
    expect(await troubled(2_000, ...steps).store.update(first, after)).toBe(true);
    expect(await storeHere().read([first.id])).toEqual([{ ...after, version: 1 }]);
  });

  it('is stale where it is another one that stands there, which is not read where nothing was repeated', async () => {
    const first = waiting();
    await storeHere().create(settled(first, 'delivered', noon));
    for (const steps of [['not made'], []] as Step[][]) {
      const { store, calls } = troubled(2_000, ...steps);
      expect(await store.create(first)).toBe(false);
      expect(calls.includes('read')).toBe(steps.length > 0);
    }
  });

  it.each<[string, number, Step[], string, number[]]>([
    ['after two seconds', 2_000, Array<Step>(20).fill('not made'), 'ThrottlingException', [100, 200, 400, 800]],
    ['at once where the store says no', 2_000, ['refused'], 'ValidationException', []],
    ['at once by default', 0, ['not made'], 'ThrottlingException', []],
  ])('is given up %s', async (_, retryForMs, steps, name, pauses) => {
    const { store, paused } = troubled(retryForMs, ...steps);
    await expect(store.create(waiting())).rejects.toMatchObject({ name });
    expect(paused).toEqual(pauses);
  });
});
