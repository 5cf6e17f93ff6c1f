import { afterAll, describe, expect, it } from 'vitest';
import { headKey } from '../../../lambdas/delivery/store/head-key.ts';
import { batchGet } from '../../../lambdas/platform/aws/batch-get.ts';
import { makeFixedWindow } from '../../../lambdas/platform/fixed-window.ts';
import { frozenClock } from '../../support/clock.ts';
import { startDatabase } from '../../support/database/database.ts';
import { casesOf } from '../../support/sample.ts';

const database = await startDatabase('Deliveries');
afterAll(() => database.stop());

let windows = 0;
const window = (limit: number) => {
  const { now, advance } = frozenClock();
  const id = `limit#${++windows}`;
  const keyOf = (subject: string) => headKey('Deliveries', id + subject);
  const fixedWindow = makeFixedWindow({ dynamo: database.dynamo, now, limit, keyOf });
  return { ...fixedWindow, advance };
};

describe('a fixed window', () => {
  it('takes so many, then says how long to wait, and counts no more', async () => {
    const { countWithinLimit: take, advance } = window(3);
    expect([await take('one'), await take('one'), await take('one')]).toEqual([undefined, undefined, undefined]);
    expect(await take('one')).toBe(60);
    advance(500);
    expect(await take('one')).toBe(60); // whole seconds, never too few
    advance(500);
    expect(await take('one')).toBe(59);
    advance(58_999);
    expect(await take('one')).toBe(1);
    advance(1);
    expect(await take('one')).toBeUndefined();
  });

  it('begins with the first of its minute', async () => {
    const { countWithinLimit: take, keyOf, advance } = window(1);
    expect(await take('one')).toBeUndefined();
    const [item] = await batchGet(database.dynamo, [keyOf('one')]);
    expect(item).toMatchObject({ ttl: Math.ceil(Number(item?.endsAt) / 1_000) }); // it is there as long as it counts
    advance(3_600_000);
    expect(await take('one')).toBeUndefined();
    advance(59_999);
    expect(await take('one')).toBe(1);
  });

  const limits = casesOf([1, 7, 60], 2);
  it.each(limits)('takes exactly %i of a hundred at once', async limit => {
    const { countWithinLimit: take } = window(limit);
    const all = await Promise.all(Array.from({ length: 100 }, () => take('one')));
    expect(all.filter(seconds => seconds === undefined)).toHaveLength(limit);
  });

  it('is one for each item', async () => {
    const { countWithinLimit: take } = window(1);
    expect(await take('one')).toBeUndefined();
    expect(await take('other')).toBeUndefined();
    expect(await take('one')).toBe(60);
  });

  it('counts beyond its limit where counting and judging are apart, and says how long to wait', async () => {
    const { keyOf, secondsToWait, count, advance } = window(2);
    const wait = async () => secondsToWait((await batchGet(database.dynamo, [keyOf('one')]))[0]);
    expect(await wait()).toBeUndefined();
    await count('one');
    expect(await wait()).toBeUndefined();
    advance(500);
    for (let time = 0; time < 3; time++) await count('one');
    expect(await wait()).toBe(60);
    advance(59_499);
    expect(await wait()).toBe(1);
    advance(1);
    expect(await wait()).toBeUndefined();
    await count('one');
    expect(await wait()).toBeUndefined();
  });
});
