import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRedaction } from '../../../../lambdas/delivery/attempt/redaction.ts';
import { processorTimeOf } from '../../../support/processor-time.ts';
import { amount } from '../../../support/sample.ts';

const basicOf = (pair: string | Buffer): string => `Basic ${Buffer.from(pair).toString('base64')}`;

describe('the redaction of a response', () => {
  it.each([
    ['the whole value', 'Bearer s3cr3t-t0ken', 'you sent Bearer s3cr3t-t0ken!', 'you sent ***!'],
    ['each occurrence', 'Bearer s3cr3t-t0ken', 's3cr3t-t0ken, s3cr3t-t0ken', '***, ***'],
    ['adjacent occurrences', 'Bearer s3cr3t', 's3cr3ts3cr3t', '******'],
    ['overlapping occurrences', 'Bearer abab', 'xabababx', 'x***x'],
    ['the part after the scheme', 'Basic dXNlcjpwYXNz', '{"auth":"dXNlcjpwYXNz"}', '{"auth":"***"}'],
    ['a value without a scheme', 's3cr3t-t0ken', '>s3cr3t-t0ken<', '>***<'],
    ['a credential with several words', 'Digest a="b c", d=e', 'got a="b c", d=e.', 'got ***.'],
    ['a credential after two spaces', 'ApiKey  k3y', 'got k3y', 'got ***'],
    ['a value with escaped slashes, as in PHP', 'Basic ab/cd/ef==', '{"h":"Basic ab\\/cd\\/ef=="}', '{"h":"***"}'],
    ['the part after the scheme with escaped slashes', 'Basic ab/cd/ef==', '{"h":"ab\\/cd\\/ef=="}', '{"h":"***"}'],
    ['a value that contains backslashes', 'Bearer a\\nb', 'got a\\nb', 'got ***'],
    ['a value that looks encoded', 'Bearer a%41&lt;b', 'a%41&lt;b', '***'],
    ['an occurrence after a partial occurrence', 'Bearer ababac', 'x abababac', 'x ab***'],
    ['not the start of a value at a complete end', 'Bearer longsecretvalue', 'use Bearer', 'use Bearer'],
    ['not other text', 'Bearer s3cr3t-t0ken', 'fine', 'fine'],
    ['a Basic password of 8 characters', basicOf('user:12345678'), 'user, 12345678', 'user, ***'],
    ['not a shorter Basic password', basicOf('user:1234567'), 'user, 1234567', 'user, 1234567'],
    ['not a Basic password of 7 characters and 14 bytes', basicOf('user:ççççççç'), 'ççççççç', 'ççççççç'],
    [
      'a Basic password for any case of the scheme',
      `bASIC  ${basicOf('user:password').slice(6)}`,
      'user:password',
      'user:***',
    ],
    ['a Basic password without padding', basicOf('user:passwords').replaceAll('=', ''), 'passwords', '***'],
    ['a Basic password with colons', basicOf('user:one:two:three'), 'one:two:three', '***'],
    ['a Basic password with escaped slashes', basicOf('user:one/two/three'), '"one\\/two\\/three"', '"***"'],
    ['a Basic password in UTF-8', basicOf('joão:coração-é'), 'joão:coração-é', 'joão:***'],
    ['a Basic password in Latin-1', basicOf(Buffer.from('joão:coração-é', 'latin1')), 'coração-é', '***'],
    [
      'a Basic password in Latin-1 that is decoded as UTF-8',
      basicOf(Buffer.from('u:coração-é', 'latin1')),
      'cora\ufffd\ufffdo-\ufffd',
      '***',
    ],
    ['not an invalid Base64 value', 'Basic a!b', 'i a b', 'i a b'],
  ])('masks only credentials: %s', (_, authorization, text, expected) => {
    expect(makeRedaction(authorization)(text, false)).toBe(expected);
  });

  it('masks no text if no credential was sent', () => {
    expect(makeRedaction(undefined)('Bearer x', true)).toBe('Bearer x');
  });

  it('masks a credential at any position and preserves all other text', () => {
    const visible = fc.stringMatching(/^[!-~]{8,40}$/);
    const spelling = fc.constantFrom<(text: string) => string>(
      text => text,
      text => text.replaceAll('/', '\\/'),
    );
    // The surrounding text has no visible ASCII, so it contains no part of a credential.
    const around = fc.string({ unit: fc.constantFrom(' ', 'é', '\u{1f600}', '\n'), minLength: 1 });
    fc.assert(
      fc.property(visible, spelling, fc.array(around, { minLength: 2, maxLength: 5 }), (credential, spell, parts) => {
        const value = `Bearer ${credential}`;
        const text = parts.join(spell(value)) + parts.join(spell(credential));
        const masked = parts.join('***') + parts.join('***');
        expect(makeRedaction(value)(text, false)).toBe(masked);
      }),
      { numRuns: amount({ sample: 200, full: 500 }) },
    );
  });

  it('masks exactly the characters of all occurrences', () => {
    const repetitive = (minLength: number, maxLength: number) =>
      fc.string({ unit: fc.constantFrom('a', 'b', '/', '\\'), minLength, maxLength });
    fc.assert(
      fc.property(repetitive(1, 6), repetitive(0, 40), (secret, text) => {
        const isSecret = Array.from(text, () => false);
        for (const spelled of [secret, secret.replaceAll('/', '\\/')]) {
          for (let at = text.indexOf(spelled); at >= 0; at = text.indexOf(spelled, at + 1)) {
            isSecret.fill(true, at, at + spelled.length);
          }
        }
        const expected = Array.from(text, (character, index) => (isSecret[index] ? '*' : character)).join('');
        const masked = makeRedaction(secret)(text, false);
        expect(masked.replaceAll(/\*+/g, '*')).toBe(expected.replaceAll(/\*+/g, '*'));
      }),
      { numRuns: amount({ sample: 400, full: 1_000 }) },
    );
  });
});

describe('the redaction of a credential at a truncated end', () => {
  it.each([
    ['masks from the first character', 'Bearer s3cr3t-t0ken', 'you sent s3cr3t-t0', 'you sent ***'],
    ['masks two characters', 'Bearer s3cr3t-t0ken', 'you sent Be', 'you sent ***'],
    ['masks a password', basicOf('user:12345678'), 'with 1234567', 'with ***'],
    ['masks a value between escape sequences', 'Bearer a/b/c/d', '{"h":"a\\/b\\/', '{"h":"***'],
    ['masks a value within an escape sequence', 'Bearer a/b/c/d', '{"h":"a\\/b\\', '{"h":"***'],
    ['masks a value after a complete occurrence', 'Bearer abab', 'abab, aba', '***, ***'],
    ['masks the longest prefix', 'Bearer ababac', 'x ababa', 'x ***'],
  ])('%s', (_, authorization, text, expected) => {
    expect(makeRedaction(authorization)(text, true)).toBe(expected);
  });

  it('masks a prefix of any length', () => {
    const credential = 'Zq/"\\7/<K';
    for (const spelling of [credential, credential.replaceAll('/', '\\/')]) {
      for (let length = 1; length <= spelling.length; length++) {
        const cut = `--- ${spelling.slice(0, length)}`;
        expect(makeRedaction(`Bearer ${credential}`)(cut, true)).toBe('--- ***');
      }
    }
  });
});

it.each<[string, string, string]>([
  ['backslashes', `${'\\'.repeat(26)}b`, '\\'.repeat(52)],
  ['one letter', `${'a'.repeat(2_047)}b`, 'a'.repeat(65_536)],
  ['one letter after many others', `b${'a'.repeat(2_047)}`, 'a'.repeat(65_536)],
  ['many backslashes', `${'\\'.repeat(2_047)}b`, '\\'.repeat(65_536)],
  ['escaped slashes', `${'/'.repeat(2_047)}b`, '\\/'.repeat(32_768)],
  ['a credential of one character', 'a', 'a'.repeat(65_536)],
  ['Basic', basicOf(`${'a'.repeat(700)}:${'a'.repeat(800)}b`), 'a'.repeat(65_536)],
])('masks %s in linear time', (_, authorization, text) => {
  expect(processorTimeOf(() => makeRedaction(authorization)(text, true))).toBeLessThan(1_000);
});
