import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFixedWindow } from '../../../lambdas/platform/fixed-window.ts';
import { frozenClock } from '../../support/clock.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';

let dynalite: Dynalite;
beforeAll(async () => {
  dynalite = await startDynalite('Deliveries');
});
afterAll(() => dynalite.stop());

let windows = 0;
const window = (limit: number) => {
  const { now, advance } = frozenClock();
  const countIn = makeFixedWindow({ dynamo: dynalite.dynamo, now, limit });
  const id = `limit#${++windows}`;
  return { count: (other = '') => countIn({ table: 'Deliveries', key: { id: id + other } }), advance };
};

describe('a fixed window', () => {
  it('takes so many, then says how long to wait, and counts no more', async () => {
    const { count, advance } = window(3);
    expect([await count(), await count(), await count()]).toEqual([undefined, undefined, undefined]);
    expect(await count()).toBe(60);
    advance(500);
    expect(await count()).toBe(60); // whole seconds, never too few
    advance(500);
    expect(await count()).toBe(59);
    advance(58_999);
    expect(await count()).toBe(1);
    advance(1);
    expect(await count()).toBeUndefined();
  });

  it('begins with the first of its minute', async () => {
    const { count, advance } = window(1);
    expect(await count()).toBeUndefined();
    advance(3_600_000);
    expect(await count()).toBeUndefined();
    advance(59_999);
    expect(await count()).toBe(1);
  });

  it.each([1, 7, 60])('takes exactly %i of a hundred at once', async limit => {
    const { count } = window(limit);
    const all = await Promise.all(Array.from({ length: 100 }, () => count()));
    expect(all.filter(seconds => seconds === undefined)).toHaveLength(limit);
  });

  it('is one for each item', async () => {
    const { count } = window(1);
    expect(await count()).toBeUndefined();
    expect(await count('-other')).toBeUndefined();
    expect(await count()).toBe(60);
  });
});
