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
  it('allows its limit for each subject, and then returns the whole seconds until its end', async () => {
    const { countWithinLimit: take, advance } = window(3);
    expect([await take('one'), await take('one'), await take('one')]).toEqual([undefined, undefined, undefined]);
    expect([await take('one'), await take('other')]).toEqual([60, undefined]);
    for (const [passed, seconds] of [
      [500, 60],
      [500, 59],
      [58_999, 1],
      [1, undefined],
    ] as const) {
      advance(passed);
      expect(await take('one')).toBe(seconds);
    }
  });

  it('starts with its first count, and its item expires at its end', async () => {
    const { countWithinLimit: take, keyOf, advance } = window(1);
    expect(await take('one')).toBeUndefined();
    const [item] = await batchGet(database.dynamo, [keyOf('one')]);
    expect(item).toMatchObject({ ttl: Math.ceil(Number(item?.endsAt) / 1_000) });
    advance(3_600_000);
    expect(await take('one')).toBeUndefined();
    advance(59_999);
    expect(await take('one')).toBe(1);
  });

  const limits = casesOf([1, 7, 60], 2);
  it.each(limits)('allows exactly %i of 100 concurrent requests', async limit => {
    const { countWithinLimit: take } = window(limit);
    const all = await Promise.all(Array.from({ length: 100 }, () => take('one')));
    expect(all.filter(seconds => seconds === undefined)).toHaveLength(limit);
  });

  it('counts beyond its limit if the count and the check are separate calls', async () => {
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
