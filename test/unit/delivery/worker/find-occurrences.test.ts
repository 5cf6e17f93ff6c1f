import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findOccurrences } from '../../../../lambdas/delivery/worker/find-occurrences.ts';
import { adversarialPair, counted } from './counted-characters.ts';

/** The same by trying every place. */
const byTrying = (needle: string, text: string) => {
  const places = [...Array(text.length).keys()];
  const remnants = places.map(length => length + 1).filter(length => length < needle.length);
  return {
    starts: places.filter(place => text.startsWith(needle, place)),
    remnant: Math.max(0, ...remnants.filter(length => text.endsWith(needle.slice(0, length)))),
  };
};

describe('findOccurrences', () => {
  it.each([
    ['abc', 'xabcabcx', [1, 4], 0],
    ['aa', 'aaaa', [0, 1, 2], 1],
    ['abab', 'abababa', [0, 2], 3],
    ['abc', 'xxab', [], 2],
    ['abc', 'ab', [], 2],
    ['a', '', [], 0],
    ['', 'abc', [], 0],
    ['\u{1f600}', 'x\u{1f600}\ud83d', [1], 1],
  ])('finds %j in %j', (needle, text, starts, remnant) => {
    expect(findOccurrences(needle, text)).toEqual({ starts, remnant });
  });

  it('finds what trying every place finds', () => {
    const word = (minLength: number, maxLength: number) =>
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength });
    fc.assert(
      fc.property(word(1, 6), word(0, 40), (needle, text) => {
        expect(findOccurrences(needle, text)).toEqual(byTrying(needle, text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('looks at each character a few times only, whatever the two are: a quadratic search freezes a consumer', () => {
    fc.assert(
      fc.property(adversarialPair, ([needle, text]) => {
        const looks = { count: 0 };
        findOccurrences(counted(needle, looks), counted(text, looks));
        expect(looks.count).toBeLessThanOrEqual(6 * (needle.length + text.length));
      }),
      { numRuns: 300 },
    );
  });
});
