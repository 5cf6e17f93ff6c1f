import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addNumbers, canonicalNumber, sortableNumber } from '../../src/dynamodb/decimal.ts';

test.each([
  ['', /cannot be converted/],
  ['.', /cannot be converted/],
  ['1 ', /cannot be converted/],
  ['0x10', /cannot be converted/],
  ['1e', /cannot be converted/],
  ['NaN', /cannot be converted/],
  ['1E126', /overflow/],
  ['-1E126', /overflow/],
  ['1E-131', /underflow/],
  ['1E999999999', /overflow/],
  ['100000000000000000000000000000000000001', /38 significant digits/],
  ['1.00000000000000000000000000000000000001', /38 significant digits/],
])('"%s" is refused', (text, message) => {
  expect(() => canonicalNumber(text)).toThrow(
    expect.objectContaining({ name: 'ValidationException', message: expect.stringMatching(message) }),
  );
});

describe('against whole numbers of any size', () => {
  /** At most 18 digits: 10^20 and 10^-18 together would have 39, which DynamoDB refuses. */
  const most = 10n ** 18n - 1n;

  /** A number as ten to the power of -60 times a whole number: all sums and comparisons are those of the whole numbers. */
  const number = fc
    .tuple(fc.bigInt({ min: -most, max: most }), fc.integer({ min: -18, max: 2 }))
    .map(([digits, exponent]) => ({
      text: canonicalNumber(`${digits}e${exponent}`),
      whole: digits * 10n ** BigInt(exponent + 60),
    }));

  test('they add, subtract and compare alike', () => {
    fc.assert(
      fc.property(number, number, (one, other) => {
        expect(wholeOf(addNumbers(one.text, other.text))).toBe(one.whole + other.whole);
        expect(wholeOf(addNumbers(one.text, other.text, '-'))).toBe(one.whole - other.whole);
        const order = one.whole < other.whole ? -1 : Number(one.whole > other.whole);
        const [left, right] = [sortableNumber(one.text), sortableNumber(other.text)];
        expect(left < right ? -1 : Number(left > right)).toBe(order);
      }),
      { numRuns: 2_000 },
    );
  });

  function wholeOf(text: string): bigint {
    const [whole = '', fraction = ''] = text.split('.');
    return BigInt(whole + fraction) * 10n ** BigInt(60 - fraction.length);
  }
});
