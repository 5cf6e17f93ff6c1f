import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseEmail } from '../../../../lambdas/auth/principals/user.ts';

/** Returns all characters in a range of code points that match a pattern. */
const characters = (pattern: RegExp, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at)).filter(character =>
    pattern.test(character),
  );
/** The letters that have a lower-case form. Only these letters can have a composition that exists only in lower case. */
const letters = characters(/^\p{L}$/u, 0, 0x10ffff).filter(letter => letter !== letter.toLowerCase());
const marks = characters(/^\p{M}$/u, 0x300, 0x36f);

/** The pairs of a letter and a mark that NFC composes only in lower case, such as `J` and U+030C. */
const composedInLowerCase = letters.flatMap(letter =>
  marks
    .map(mark => letter + mark)
    .filter(form => {
      const lower = form.normalize('NFC').toLowerCase();
      return lower !== lower.normalize('NFC');
    }),
);

describe('normaliseEmail (UTS 46)', () => {
  it.each([
    ['white space around it', ' ana@example.com\t', 'ana@example.com'],
    ['capitals', 'ANA@Example.COM', 'ana@example.com'],
    ['a decomposed letter', 'jose\u0301@example.com', 'jos\u00e9@example.com'],
    ['a decomposed capital', 'JOSE\u0301@example.com', 'jos\u00e9@example.com'],
    ['a capital that is composed in lower case only', 'J\u030cana@example.com', '\u01f0ana@example.com'],
    ['a capital with marks reordered in lower case', '\u0130\u0316@example.com', 'i\u0316\u0307@example.com'],
    ['an international domain', 'ana@M\u00dcnchen.de', 'ana@xn--mnchen-3ya.de'],
    ['a decomposed international domain', 'ana@mu\u0308nchen.de', 'ana@xn--mnchen-3ya.de'],
    ['an international domain in ASCII', 'ana@XN--mnchen-3ya.de', 'ana@xn--mnchen-3ya.de'],
    ['a domain with full-width characters', 'ana@\uff21cme\u3002\uff43om', 'ana@acme.com'],
    ['an international local part', 'jos\u00e9@m\u00fcnchen.de', 'jos\u00e9@xn--mnchen-3ya.de'],
  ])('normalises %s.', (_, address, normal) => {
    expect(normaliseEmail(address)).toBe(normal);
  });

  it.each([
    ['no domain', 'm\u00fcnchen.de'],
    ['an empty domain', 'ana@'],
    ['a format character in the domain', 'ana@exa\u200bmple.com'],
    ['a format character in an international domain', 'ana@m\u00fcn\u202achen.de'],
    ['a domain that cannot be converted', 'ana@\u00fc\u00a0.com'],
    ['a path after the domain', 'ana@m\u00fcnchen.de/x'],
    ['a port after the domain', 'ana@m\u00fcnchen.de:80'],
    ['percent-encoding in the domain', 'ana@m\u00fcnch%65n.de'],
    ['a line break in the domain', 'ana@m\u00fcn\nchen.de'],
  ])('does not change an address with %s.', (_, address) => {
    expect(normaliseEmail(address)).toBe(address);
  });

  it('returns the same form for all encodings of a letter that is composed in lower case only.', () => {
    expect(composedInLowerCase).toHaveLength(102);
    for (const form of composedInLowerCase) {
      const normal = normaliseEmail(`${form}@example.com`);
      expect(normaliseEmail(normal)).toBe(normal);
      for (const spelling of [form.normalize('NFD'), form.toLowerCase(), form.toLowerCase().normalize('NFC')]) {
        expect(normaliseEmail(`${spelling}@example.com`)).toBe(normal);
      }
    }
  });

  it('does not change a normalised address.', () => {
    const capitals = composedInLowerCase.map(([letter = '']) => letter);
    const some = fc.string({ unit: 'binary', maxLength: 2 });
    const ofDomains = fc.constantFrom('xn--', ...'@.1\u3002\uff0e\uff21\u00fc\u00df\u200d\ufe0f');
    const texts = fc.array(fc.oneof(fc.constantFrom(...marks), fc.constantFrom(...capitals), ofDomains, some));
    fc.assert(
      fc.property(texts, parts => {
        const normal = normaliseEmail(parts.join(''));
        expect(normaliseEmail(normal)).toBe(normal);
      }),
      { numRuns: 2_000 },
    );
  });
});
