import { describe, expect, it } from 'vitest';
import { makeConcurrencyLimit } from '../../../../lambdas/delivery/isolation/concurrency-limit.ts';

describe('the places of a key under a concurrency limit', () => {
  it('are as many as the limit, and each is there again when it is left', () => {
    const limit = makeConcurrencyLimit({ places: 2, besideOthers: 1, others: 1 });
    const leave = limit.enter('one');
    expect(limit.enter('one')).toBeDefined();
    expect(limit.enter('one')).toBeUndefined();
    leave?.();
    expect(limit.enter('one')).toBeDefined();
    expect(limit.enter('one')).toBeUndefined();
  });

  it('are nobody else’s', () => {
    const limit = makeConcurrencyLimit({ places: 1, besideOthers: 1, others: 1 });
    limit.enter('one');
    expect(limit.enter('another')).toBeDefined();
  });

  it('are fewer while others have many', () => {
    const limit = makeConcurrencyLimit({ places: 3, besideOthers: 1, others: 2 });
    limit.enter('other');
    limit.enter('one');
    expect(limit.enter('one')).toBeDefined();
    const leave = limit.enter('another');
    expect(limit.enter('one')).toBeUndefined();
    leave?.();
    expect(limit.enter('one')).toBeDefined();
  });
});
