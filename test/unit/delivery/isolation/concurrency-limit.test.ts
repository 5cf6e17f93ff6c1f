import { describe, expect, it } from 'vitest';
import { makeConcurrencyLimit } from '../../../../lambdas/delivery/isolation/concurrency-limit.ts';

describe('the places of a key under a concurrency limit', () => {
  it('are as many as the limit, and each is there again when it is left', () => {
    const limit = makeConcurrencyLimit(2);
    const leave = limit.enter('one');
    expect(limit.enter('one')).toBeDefined();
    expect(limit.enter('one')).toBeUndefined();
    leave?.();
    expect(limit.enter('one')).toBeDefined();
    expect(limit.enter('one')).toBeUndefined();
  });

  it('are nobody else’s', () => {
    const limit = makeConcurrencyLimit(1);
    limit.enter('one');
    expect(limit.enter('another')).toBeDefined();
  });
});
