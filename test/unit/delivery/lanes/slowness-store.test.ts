import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { slownessId } from '../../../../lambdas/delivery/lanes/slow-since.ts';
import { isSlow, withSlowAttempts } from '../../../../lambdas/delivery/lanes/slowness.ts';
import { makeSlownessStore, slownessOf } from '../../../../lambdas/delivery/lanes/slowness-store.ts';
import { headKey } from '../../../../lambdas/delivery/store/head-key.ts';
import { frozenClock } from '../../../support/clock.ts';
import { startDatabase } from '../../../support/database/database.ts';
import { aWebhook, noon } from '../builders.ts';

const database = await startDatabase('Deliveries');
afterAll(() => database.stop());

const clock = frozenClock();
let accounts = 0;
let owner: { accountId: string; eventName: 'demanda.criada' };
beforeEach(() => {
  clock.set(noon);
  owner = { accountId: `conta-${++accounts}`, eventName: 'demanda.criada' };
});

const store = makeSlownessStore({ dynamo: database.dynamo, table: 'Deliveries', now: clock.now });
const itemOf = async () => {
  const { key: Key } = headKey('Deliveries', slownessId(owner));
  return (await database.dynamo(new GetCommand({ TableName: 'Deliveries', Key, ConsistentRead: true }))).Item;
};
const slowed = (slow: number, quick = 0) =>
  store.change(owner, before => withSlowAttempts(before, { slow, quick }, noon));

describe('what is known of how slowly a receiver answers', () => {
  it('is given back as it was changed', async () => {
    await slowed(2, 3);
    expect(slownessOf(await itemOf())).toEqual({
      ...{ tallies: [{ at: noon, slow: 2, quick: 3 }], version: 1 },
      ...{ slowSince: noon, reachedAt: noon, hold: 60_000, endedAt: undefined },
    });
  });

  it('is not written where nothing changes', async () => {
    database.operations.length = 0;
    await store.change(owner, () => undefined);
    expect(database.operations).toEqual(['BatchGetItemCommand']);
    expect(await itemOf()).toBeUndefined();
  });

  it('loses no record of an attempt beside others', async () => {
    await Promise.all(Array.from({ length: 5 }, () => slowed(1)));
    expect(slownessOf(await itemOf()).tallies).toEqual([{ at: noon, slow: 5, quick: 0 }]);
  });

  it('is returned as it is stored where a change lost every race', async () => {
    let races = 0;
    const busy = makeSlownessStore({
      dynamo: async command => {
        if (races++ % 2 === 1) await slowed(1, 99);
        return database.dynamo(command);
      },
      table: 'Deliveries',
      now: clock.now,
    });
    const said = await busy.change(owner, before => withSlowAttempts(before, { slow: 2_000, quick: 0 }, noon));
    expect(isSlow(said)).toBe(false);
    expect(said).toEqual(slownessOf(await itemOf()));
  });

  // Callers have a webhook at hand, whose fields are more than the owner's.
  it('holds nothing of the webhook: no URL, no credential, no secret', async () => {
    const webhook = aWebhook({ ...owner, sealedAuthorization: 'canary-authorization', failingSince: 1 });
    await store.change(webhook, before => withSlowAttempts(before, { slow: 2, quick: 0 }, noon));
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
      'ttl',
    ];
    expect(Object.keys((await itemOf()) ?? {}).toSorted()).toEqual(names.toSorted());
  });

  it('is cleaned up long after whatever may wait has ended', async () => {
    await slowed(1);
    expect(((await itemOf())?.ttl ?? 0) - noon / 1_000).toBeGreaterThanOrEqual(40 * 24 * 60 * 60);
  });
});
