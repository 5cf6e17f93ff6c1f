import { describe, expect, it } from 'vitest';
import { makeConcurrencyLimit } from '../../../../lambdas/delivery/isolation/concurrency-limit.ts';

/** Enters a key as often as it is let in, at most `most` times. Returns the functions that leave its places. */
const fill = (limit: ReturnType<typeof makeConcurrencyLimit>, key: string, most = 100) =>
  Array.from({ length: most }, () => limit.enter(key)).filter(leave => leave !== undefined);

describe('the places of a key under a concurrency limit', () => {
  it('are as many as the limit, and each is there again when it is left', () => {
    const limit = makeConcurrencyLimit({ places: 2, besideOthers: 2, others: 1 });
    const leave = limit.enter('one');
    expect(fill(limit, 'one')).toHaveLength(1);
    leave?.();
    expect(fill(limit, 'one')).toHaveLength(1);
  });

  it('are nobody else’s', () => {
    const limit = makeConcurrencyLimit({ places: 1, besideOthers: 1, others: 1 });
    limit.enter('one');
    expect(limit.enter('another')).toBeDefined();
  });

  // Fifty webhooks that hung at the same moment had all places of all processes.
  it('are fewer beside others: a burst of many webhooks leaves room for further ones', () => {
    const limit = makeConcurrencyLimit({ places: 25, besideOthers: 5, others: 10 });
    const taken = Array.from({ length: 50 }, (_, webhook) => fill(limit, `webhook ${webhook}`).length);
    expect(taken.slice(0, 3)).toEqual([25, 5, 5]);
    expect(taken.reduce((sum, places) => sum + places, 0)).toBe(25 + 49 * 5);
  });

  it('are as many as ever while others have few', () => {
    const limit = makeConcurrencyLimit({ places: 25, besideOthers: 5, others: 10 });
    fill(limit, 'another', 9);
    expect(fill(limit, 'one')).toHaveLength(25);
  });

  it('are as many as ever again once the others have left', () => {
    const limit = makeConcurrencyLimit({ places: 25, besideOthers: 5, others: 10 });
    const others = fill(limit, 'another', 10);
    expect(fill(limit, 'one')).toHaveLength(5);
    others[0]?.();
    expect(fill(limit, 'one')).toHaveLength(20);
  });
});
