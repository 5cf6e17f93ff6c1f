import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findEncodedCharacters } from '../../../../lambdas/delivery/worker/encoded-characters.ts';
import { findOccurrences } from '../../../../lambdas/delivery/worker/find-occurrences.ts';
import type { Characters } from '../../../../lambdas/delivery/worker/json-escapes.ts';
import { adversarialPair, counted } from './counted-characters.ts';

/** Returns a text in which a letter stands for each place: `o` where an occurrence goes on, `b` where one begins, `.` elsewhere. */
const find = (secrets: readonly string[], text: Characters, isCut = false): string => {
  const begun = new Set<number>();
  const goneOn = new Set<number>();
  findOccurrences(
    secrets,
    { text, encoded: findEncodedCharacters(text), isCut },
    {
      begin: index => begun.add(index),
      goOn: index => goneOn.add(index),
      join: (start, end) => {
        for (let index = start + 1; index < end; index++) goneOn.add(index);
      },
    },
  );
  const letterAt = (index: number) => (goneOn.has(index) ? 'o' : begun.has(index) ? 'b' : '.');
  return Array.from({ length: text.length }, (_, index) => letterAt(index)).join('');
};

describe('findOccurrences', () => {
  it.each<[string, string, string]>([
    ['abc', 'xabcabcx', '.booboo.'],
    ['aa', 'aaaa', 'booo'],
    ['abc', 'xxab', '....'],
    ['a', '', ''],
    ['', 'abc', '...'],
    ['\u{1f600}', 'x\u{1f600}\ud83d', '.bo.'],
    ['a=b', 'a%3Db', 'boooo'],
    ['a=b', 'a&#61;b a&#x3D;b a&equals;b', 'boooooo.booooooo.booooooooo'],
    ['a<b', 'a&lt;b a&ltb', 'booooo.boooo'],
    // What begins like an encoded character is the secret's own, or stands before it.
    ['%41B=', '%41B%3D', 'boooooo'],
    ['41B=', '%41B%3D', '.booooo'],
    ['AB=', '%41B%3D', 'boooooo'],
    ['x%', 'x%41', 'bo..'],
    ['lt;<', '&lt;&lt;', '.boooooo'],
    // base64url, and no padding
    ['a+b/c==', 'a-b_c a+b/c= a-b_c== a_b', 'boooo.booooo.boooooo....'],
    ['==', '= ==', '..bo'],
    // in UTF-8, in Latin-1, beyond 16 bits
    ['a\u00e7\u00e3o', 'a%C3%A7%C3%A3o a%E7%E3o a&ccedil;&atildeo', 'booooooooooooo.booooooo.boooooooooooooooo'],
    ['\u{1f600}!', '%F0%9F%98%80! &#128512;! &#x1F600!', 'boooooooooooo.booooooooo.boooooooo'],
  ])('finds %j in %j', (secret, text, expected) => {
    expect(find([secret], text)).toBe(expected);
  });

  it.each<[string, string, string]>([
    ['abc', 'xxab', '..bo'],
    ['a=b', 'xa%', '.bo'],
    ['a=b', 'xa%3', '.boo'],
    ['a=b', 'xa&#6', '.booo'],
    ['a=b', 'xa&equ', '.boooo'],
    ['a=b', 'xa&eqq', '......'],
    ['=b', 'x&#x3', '.booo'],
    ['\u00e7', 'x%C3', '.boo'],
    ['\u00e7', 'x%C3%A', '.boooo'],
    ['\u{1f600}', 'x%F0%9F%9', '.booooooo'],
  ])('finds the beginning of %j at the end of %j, which is cut', (secret, text, expected) => {
    expect(find([secret], text, true)).toBe(expected);
  });

  it('finds what trying every place finds', () => {
    const word = (minLength: number, maxLength: number) =>
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength });
    fc.assert(
      fc.property(fc.array(word(1, 40), { minLength: 1, maxLength: 4 }), word(0, 80), (secrets, text) => {
        const expected = [...text].map((_, place) => {
          const isIn = (start: number, length: number) => start < place && place < start + length;
          const begun = secrets.some(secret => text.startsWith(secret, place));
          const starts = [...text].keys();
          const goesOn = [...starts].some(start =>
            secrets.some(secret => text.startsWith(secret, start) && isIn(start, secret.length)),
          );
          return goesOn ? 'o' : begun ? 'b' : '.';
        });
        expect(find(secrets, text)).toBe(expected.join(''));
      }),
      { numRuns: 500 },
    );
  });

  it('looks at each character a few times only, whatever the two are: a quadratic search freezes a consumer', () => {
    fc.assert(
      fc.property(adversarialPair, fc.boolean(), ([secret, text], isCut) => {
        const looks = { count: 0 };
        const readable = { text: counted(text, looks), encoded: findEncodedCharacters(text), isCut };
        findOccurrences([secret], readable, { begin: () => {}, goOn: () => {}, join: () => {} });
        expect(looks.count).toBeLessThanOrEqual(2 * text.length);
      }),
      { numRuns: 100 },
    );
  });
});
