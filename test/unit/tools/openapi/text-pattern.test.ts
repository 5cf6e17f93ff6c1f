import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPattern } from '../../../../tools/openapi/text-pattern.ts';

const reasonOf = (pattern: RegExp): string | undefined => {
  try {
    checkPattern('canal', pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('a text pattern', () => {
  const words = [/^[a-z][a-z0-9_]*$/, /^[A-Z]{2,3}[0-9]{6}$/, /^[A-Za-z0-9 _./-]{3,}$/];
  it.each([...words, /^[0-9a-f]{8}-[0-9a-f]{4}$/, /^-?[0-9]+$/, /^a{3}a+$/])('may be %s', pattern => {
    expect(reasonOf(pattern)).toBeUndefined();
  });

  it.each([
    ['has no beginning', /[a-z]+$/, 'does not start with ^ and end with $'],
    ['has no end', /^[a-z]+/, 'does not start with ^ and end with $'],
    ['takes either case', /^[a-z]+$/i, 'has flags'],
    ['reads lines', /^[a-z]+$/m, 'has flags'],
    ['has a group that repeats what repeats', /^(?:a+)+$/, 'contains more than'],
    ['has alternatives', /^(?:a|ab)$/, 'contains more than'],
    ['has a dot, which line breaks divide otherwise in Python', /^.{1,9}$/, 'contains more than'],
    ['has \\d, which are all digits of Unicode in Python', /^\d+$/, 'contains more than'],
    ['has a negated class, which counts UTF-16 units in JavaScript', /^[^a]$/, 'contains more than'],
    ['has other characters than ASCII', /^[à-ú]+$/, 'contains more than'],
    ['has a lazy count', /^[a-z]+?$/, 'contains more than'],
    ['repeats a class right after itself', /^[a-z]+[a-z]+$/, '"[a-z]+" may continue it'],
    ['repeats it after what may be absent', /^[a-z]{1,9}-?[a-z0-9]{1,9}$/, '"[a-z]{1,9}" may continue it'],
    ['lets it go on with a character of its own', /^x[a-z]*z$/, '"[a-z]*" may continue it'],
    ['may leave out either of two that are the same', /^a?a?$/, '"a?" may continue it'],
  ])('is refused if it %s', (_case, pattern, reason) => {
    expect(reasonOf(pattern)).toContain(
      `The pattern of canal ${reason.startsWith('"') ? 'is ambiguous: the part after ' : ''}${reason}`,
    );
  });

  it('divides a text among its parts in at most one way, so that no engine backtracks', () => {
    const part = fc.record({
      characters: fc.constantFrom('ab', 'bc', 'a', 'c', 'abc'),
      count: fc.constantFrom([1, 1], [0, 1], [0, 9], [1, 9], [2, 4]),
    });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    let allowed = 0;
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), text, (parts, given) => {
        const source = parts.map(({ characters, count }) => `[${characters}]{${count.join(',')}}`);
        if (reasonOf(new RegExp(`^${source.join('')}$`)) !== undefined) return;
        allowed += 1;
        expect(divisions(parts, given)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 2_000 },
    );
    expect(allowed).toBeGreaterThan(100);
  });
});

interface Part {
  readonly characters: string;
  readonly count: readonly number[];
}

/** Returns the number of ways to divide a text among the parts of a pattern. */
function divisions([first, ...others]: readonly Part[], text: string): number {
  if (!first) return Number(text === '');
  const [least = 0, most = 0] = first.count;
  const fitting = [...text].findIndex(letter => !first.characters.includes(letter));
  const longest = Math.min(most, fitting === -1 ? text.length : fitting);
  const lengths = Array.from({ length: Math.max(0, longest - least + 1) }, (_, more) => least + more);
  return lengths.reduce((sum, length) => sum + divisions(others, text.slice(length)), 0);
}
