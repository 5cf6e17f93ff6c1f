import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutJsonEscapes } from '../../../../lambdas/delivery/worker/json-escapes.ts';
import { adversarialPair, counted } from './counted-characters.ts';

describe('withoutJsonEscapes', () => {
  it.each<[string, string, number[]]>([
    ['plain', 'plain', [0, 1, 2, 3, 4, 5]],
    ['a\\/b', 'a/b', [0, 1, 3, 4]],
    ['\\"\\\\\\b\\f\\n\\r\\t', '"\\\b\f\n\r\t', [0, 2, 4, 6, 8, 10, 12, 14]],
    ['\\u0061\\u003C\\u003c', 'a<<', [0, 6, 12, 18]],
    ['\\ud83d\\ude00', '\u{1f600}', [0, 6, 12]],
    ['\\\\u0061', '\\u0061', [0, 2, 3, 4, 5, 6, 7]],
    ['\\x', '\\x', [0, 1, 2]],
    ['\\u00g1', '\\u00g1', [0, 1, 2, 3, 4, 5, 6]],
    ['', '', [0]],
    // cut off: the text ends where the escape begins
    ['a\\', 'a', [0, 1]],
    ['a\\u', 'a', [0, 1]],
    ['a\\u006', 'a', [0, 1]],
  ])('reads %j as %j', (source, text, starts) => {
    const unescaped = withoutJsonEscapes(source);
    expect({ ...unescaped, starts: [...unescaped.starts] }).toEqual({ text, starts });
  });

  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        expect(withoutJsonEscapes(JSON.stringify(text).slice(1, -1)).text).toBe(text);
      }),
    );
  });

  it('looks at each character a few times only', () => {
    fc.assert(
      fc.property(adversarialPair, ([, text]) => {
        const looks = { count: 0 };
        withoutJsonEscapes(counted(text, looks));
        expect(looks.count).toBeLessThanOrEqual(6 * text.length);
      }),
    );
  });
});
