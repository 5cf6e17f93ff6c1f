import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findEncodedCharacters } from '../../../../lambdas/delivery/worker/encoded-characters.ts';
import { adversarialPair, counted } from './counted-characters.ts';

/** Returns what the text's first character is an encoding of, and how long that is; nothing where it is none. */
const first = (text: string): [string, number] | undefined => {
  const { units, ends } = findEncodedCharacters(text);
  if ((units[0] ?? -1) < 0) return undefined;
  return [String.fromCharCode(units[0] ?? 0), ends[0] ?? 0];
};

/** The names of visible ASCII, as https://html.spec.whatwg.org/multipage/named-characters.html has them. */
const names: readonly [string, ...string[]][] = [
  ['!', 'excl;'],
  ['"', 'quot;', 'quot', 'QUOT;', 'QUOT'],
  ['#', 'num;'],
  ['$', 'dollar;'],
  ['%', 'percnt;'],
  ['&', 'amp;', 'amp', 'AMP;', 'AMP'],
  ["'", 'apos;'],
  ['(', 'lpar;'],
  [')', 'rpar;'],
  ['*', 'ast;', 'midast;'],
  ['+', 'plus;'],
  [',', 'comma;'],
  ['.', 'period;'],
  ['/', 'sol;'],
  [':', 'colon;'],
  [';', 'semi;'],
  ['<', 'lt;', 'lt', 'LT;', 'LT'],
  ['=', 'equals;'],
  ['>', 'gt;', 'gt', 'GT;', 'GT'],
  ['?', 'quest;'],
  ['@', 'commat;'],
  ['[', 'lsqb;', 'lbrack;'],
  ['\\', 'bsol;'],
  [']', 'rsqb;', 'rbrack;'],
  ['^', 'Hat;'],
  ['_', 'lowbar;', 'UnderBar;'],
  ['`', 'grave;', 'DiacriticalGrave;'],
  ['{', 'lcub;', 'lbrace;'],
  ['|', 'verbar;', 'vert;', 'VerticalLine;'],
  ['}', 'rcub;', 'rbrace;'],
  ['\u00a0', 'nbsp;', 'nbsp'],
  ['\u00e7', 'ccedil;', 'ccedil'],
  ['\u00ff', 'yuml;', 'yuml'],
];

describe('findEncodedCharacters', () => {
  it.each(names.flatMap(([character, ...all]) => all.map((name): [string, string] => [`&${name}`, character])))(
    'reads %s as %s',
    (reference, character) => {
      expect(first(reference)).toEqual([character, reference.length]);
      expect(first(`${reference}x`)).toEqual([character, reference.length]);
    },
  );

  it.each<[string, [string, number] | undefined]>([
    ['%3D', ['=', 3]],
    ['%3d', ['=', 3]],
    ['%3', undefined],
    ['%3G', undefined],
    ['%%33', undefined],
    ['%C3%A7', ['\u00e7', 6]],
    ['%E2%82%AC', ['\u20ac', 9]],
    ['%E7x', ['\u00e7', 3]],
    ['%E7%41', ['\u00e7', 3]],
    ['&#61;', ['=', 5]],
    ['&#61', ['=', 4]],
    ['&#0000061;', ['=', 10]],
    ['&#x3D;', ['=', 6]],
    ['&#X3d', ['=', 5]],
    ['&#x3Dg', ['=', 5]],
    ['&#61a', ['=', 4]],
    ['&#;', undefined],
    ['&#x;', undefined],
    [`&#${'9'.repeat(400)};`, undefined],
    ['&#x110000;', undefined],
    ['&equals', undefined],
    ['&Equals;', undefined],
    ['&ltx', ['<', 3]],
    ['&;', undefined],
    ['& ', undefined],
    ['=', undefined],
  ])('reads %j as %j', (text, expected) => {
    expect(first(text)).toEqual(expected);
  });

  it.each<[string, number[]]>([
    ['100%', [3]],
    ['a%3', [1]],
    ['a%C3', [1]],
    ['a%F0%9F%98%8', [1, 10]],
    ['a&', [1]],
    ['a&#', [1]],
    ['a&#x', [1]],
    ['a&#x3D', [1]],
    ['a&equals', [1]],
    ['a&b', [1]],
    ['a&bb', []],
    ['a%3D', []],
    ['a&#61;', []],
    ['a&equals;', []],
  ])('tells what the end of %j may cut off', (text, expected) => {
    expect([...findEncodedCharacters(text).cut]).toEqual(expected);
  });

  it('reads any character in each of its forms', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), character => {
        const code = character.codePointAt(0) ?? 0;
        fc.pre(code < 0xd800 || code > 0xdfff);
        const percent = [...Buffer.from(character)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('');
        for (const form of [percent, `&#${code};`, `&#x${code.toString(16)};`]) {
          const { units, ends } = findEncodedCharacters(form);
          let read = '';
          for (let index = 0; index < form.length; index = ends[index] ?? form.length) {
            read += String.fromCharCode(units[index] ?? 0);
          }
          expect(read).toBe(character);
        }
      }),
    );
  });

  it('looks at each character a limited number of times', () => {
    fc.assert(
      fc.property(adversarialPair, ([, text]) => {
        const looks = { count: 0 };
        findEncodedCharacters(counted(text, looks));
        expect(looks.count).toBeLessThanOrEqual(20 * text.length);
      }),
      { numRuns: 100 },
    );
  });
});
