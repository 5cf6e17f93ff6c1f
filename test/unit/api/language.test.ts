import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fillInBoth, preferredLanguage } from '../../../lambdas/api/language.ts';

// Tests that errors are in Portuguese if Accept-Language prefers it, otherwise in English (RFC 9110 section 12.5.4).

it.each<[string, string | undefined]>([
  ['the language without a region', 'pt'],
  ['a region (RFC 4647 section 2.1)', 'pt-BR'],
  ['a script and a region', 'pt-Latn-BR'],
  ['letters of any case (RFC 4647 section 2)', 'PT-br'],
  ['the header of browsers in Brazil', 'pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7'],
  ['no weight, which means 1 (RFC 9110 section 12.4.2)', 'en;q=0.999, pt'],
  ['a weight of 1.000', 'en;q=0.9, pt;q=1.000'],
  ['a weight with a point but no digits after it', 'en;q=0., pt;q=1.'],
  ['Q in upper case (RFC 5234 section 2.3)', 'en;Q=0.4, pt;Q=0.5'],
  ['space around commas and semicolons (RFC 9110 section 5.6.3)', 'en \t;\t q=0.1 ,\t pt ; q=0.2'],
  ['empty elements (RFC 9110 section 5.6.1.2)', ', ,pt,,'],
  ['a weight of 0 for English', 'en;q=0, *;q=0.1'],
  ['a higher weight than other languages', 'pt;q=0.5, *;q=0.4'],
  ['a list with malformed parts', 'en_US, en;q=2, en;q=1.001, en;q=.9, en;q=0.1234, en;level=1, en q=1, pt;q=0.1'],
])('The preferred language is Portuguese for %s', (_case, header) => {
  expect(preferredLanguage(header)).toBe('pt');
});

it.each<[string, string | undefined]>([
  ['no header', undefined],
  ['an empty header (RFC 9110 section 5.6.1.2)', ''],
  ['English', 'en'],
  ['another language', 'fr, de;q=0.5'],
  ['any language', '*'],
  ['a tie', 'pt, en'],
  ['a tie with the asterisk', 'pt, *'],
  ['a higher weight for English', 'en-US,en;q=0.9,pt-BR;q=0.8,pt;q=0.7'],
  ['a weight of 0 for Portuguese (RFC 9110 section 12.4.2)', 'pt;q=0'],
  ['a language whose name has this prefix', 'pta, ptg-BR;q=1'],
  ['a region without the language', 'BR, x-pt, en-pt'],
  ['an underscore', 'pt_BR'],
  ['a weight over 1', 'pt;q=1.1'],
  ['a weight of four digits', 'pt;q=0.1234'],
  ['a weight without a leading 0', 'pt;q=.9'],
  ['a negative weight', 'pt;q=-1'],
  ['a weight that is not a number', 'pt;q=NaN, pt;q=, pt;q'],
  ['another parameter', 'pt;level=1'],
  ['space inside', 'p t, pt ;q= 1, pt; q =1'],
  ['a subtag that is too long', 'pt-brasileiro'],
  ['an asterisk with a subtag', 'en;q=0, *-BR'],
  ['another separator', 'pt;pt-BR'],
  ['letters of other scripts', 'рt, ｐｔ, pţ'],
  ['other white space', 'pt\u00a0, \u2003pt, pt\r\n'],
])('The preferred language is English for %s', (_case, header) => {
  expect(preferredLanguage(header)).toBe('en');
});

it('Only the first 1,024 characters of Accept-Language are parsed', () => {
  expect(preferredLanguage(`${'aa,'.repeat(340)}aa,pt`)).toBe('en'); // its last character is the 1,025th
  expect(preferredLanguage(`${'aa,'.repeat(340)}a,pt`)).toBe('pt');
  expect(preferredLanguage(`pt,${' '.repeat(1_021)},en`)).toBe('pt');
});

it('The first 1,024 characters of any header determine the preferred language', () => {
  fc.assert(
    fc.property(anyText, text => {
      expect(['en', 'pt']).toContain(preferredLanguage(text));
      expect(preferredLanguage(text)).toBe(preferredLanguage(text.slice(0, 1_024)));
    }),
  );
});

it('The preferred language is the language with the greater weight', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(range, weight), { maxLength: 20 }), ranges => {
      const header = ranges.map(([name, thousandths]) => `${name};q=${(thousandths / 1_000).toFixed(3)}`).join(', ');
      const weightOf = (language: string) => {
        const own = ranges.filter(([name]) => name.toLowerCase().split('-')[0] === language);
        const counted = own.length > 0 ? own : ranges.filter(([name]) => name === '*');
        return Math.max(0, ...counted.map(([, thousandths]) => thousandths));
      };
      expect(preferredLanguage(header)).toBe(weightOf('pt') > weightOf('en') ? 'pt' : 'en');
    }),
  );
});

it.each([
  ['spaces', `pt${' '.repeat(10_000_000)}x`],
  ['subtags', `pt${'-a'.repeat(5_000_000)}!`],
  ['commas', ','.repeat(10_000_000)],
  ['weights', `pt;q=0.${'9'.repeat(10_000_000)}`],
])('Only the first 1,024 of 10,000,000 characters of %s determine the preferred language', (_case, header) => {
  expect(preferredLanguage(`${header}, pt`)).toBe(preferredLanguage(header.slice(0, 1_024)));
});

it('fillInBoth inserts values unchanged', () => {
  const text = { en: '{one}, {two}, {one}', pt: '{two} e {one}' };
  expect(fillInBoth(text, { one: '$& {two}', two: 2 })).toEqual({ en: '$& {two}, 2, $& {two}', pt: '2 e $& {two}' });
});

const range = fc.constantFrom('pt', 'pt-BR', 'PT-pt', 'en', 'en-US', 'EN', 'fr', 'es-419', '*');
const weight = fc.integer({ min: 0, max: 1_000 });
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3_000, size: 'max' }),
  fc
    .array(fc.constantFrom('pt', 'en', '*', ',', ';', 'q=', '0.', '9', '-', ' ', '\t', 'é'), {
      maxLength: 3_000,
      size: 'max',
    })
    .map(parts => parts.join('')),
);
