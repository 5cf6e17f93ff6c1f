import { describe, expect, it } from 'vitest';
import { makeBulkhead } from '../../../../lambdas/delivery/isolation/bulkhead.ts';

describe('the places of a key in a bulkhead', () => {
  it('are as many as the limit, and each is there again when it is left', () => {
    const bulkhead = makeBulkhead(2);
    const leave = bulkhead.enter('one');
    expect(bulkhead.enter('one')).toBeDefined();
    expect(bulkhead.enter('one')).toBeUndefined();
    leave?.();
    expect(bulkhead.enter('one')).toBeDefined();
    expect(bulkhead.enter('one')).toBeUndefined();
  });

  it('are nobody else’s', () => {
    const bulkhead = makeBulkhead(1);
    bulkhead.enter('one');
    expect(bulkhead.enter('another')).toBeDefined();
  });
});
