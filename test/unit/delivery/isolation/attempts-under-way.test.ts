import { describe, expect, it } from 'vitest';
import { makeAttemptsUnderWay } from '../../../../lambdas/delivery/isolation/attempts-under-way.ts';

describe('the places of a key', () => {
  it('are as many as the limit, and each is there again when it is left', () => {
    const underWay = makeAttemptsUnderWay(2);
    const leave = underWay.enter('one');
    expect(underWay.enter('one')).toBeDefined();
    expect(underWay.enter('one')).toBeUndefined();
    leave?.();
    expect(underWay.enter('one')).toBeDefined();
    expect(underWay.enter('one')).toBeUndefined();
  });

  it('are nobody else’s', () => {
    const underWay = makeAttemptsUnderWay(1);
    underWay.enter('one');
    expect(underWay.enter('another')).toBeDefined();
  });
});
