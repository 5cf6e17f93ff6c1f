import { describe, expect, it } from 'vitest';
import { makeBulkhead } from '../../../../lambdas/delivery/isolation/bulkhead.ts';

describe('the places of a key', () => {
  it('are as many as the limit, and each is there again when it is left', () => {
    const underWay = makeBulkhead(2);
    const leave = underWay.enter('one');
    expect(underWay.enter('one')).toBeDefined();
    expect(underWay.enter('one')).toBeUndefined();
    leave?.();
    expect(underWay.enter('one')).toBeDefined();
    expect(underWay.enter('one')).toBeUndefined();
  });

  it('are nobody else’s', () => {
    const underWay = makeBulkhead(1);
    underWay.enter('one');
    expect(underWay.enter('another')).toBeDefined();
  });
});
