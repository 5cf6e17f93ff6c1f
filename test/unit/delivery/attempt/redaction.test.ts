import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRedaction } from '../../../../lambdas/delivery/attempt/redaction.ts';
import { processorTimeOf } from '../../../support/processor-time.ts';
import { amount } from '../../../support/sample.ts';

/* A response is stored without the credential that it echoes (`docs/en/deliveries.md`). */

const basicOf = (pair: string | Buffer): string => `Basic ${Buffer.from(pair).toString('base64')}`;

describe('the credential in a response is masked', () => {
  it.each([
    ['the whole value', 'Bearer s3cr3t-t0ken', 'you sent Bearer s3cr3t-t0ken!', 'you sent ***!'],
    ['each occurrence', 'Bearer s3cr3t-t0ken', 's3cr3t-t0ken, s3cr3t-t0ken', '***, ***'],
    ['occurrences side by side', 'Bearer s3cr3t', 's3cr3ts3cr3t', '******'],
    ['occurrences that overlap', 'Bearer abab', 'xabababx', 'x***x'],
    ['its credential part', 'Basic dXNlcjpwYXNz', '{"auth":"dXNlcjpwYXNz"}', '{"auth":"***"}'],
    ['a value without scheme', 's3cr3t-t0ken', '>s3cr3t-t0ken<', '>***<'],
    ['a credential of several words', 'Digest a="b c", d=e', 'got a="b c", d=e.', 'got ***.'],
    ['after two spaces', 'ApiKey  k3y', 'got k3y', 'got ***'],
    ['with slashes escaped, as PHP does', 'Basic ab/cd/ef==', '{"h":"Basic ab\\/cd\\/ef=="}', '{"h":"***"}'],
    ['its credential part with slashes escaped', 'Basic ab/cd/ef==', '{"h":"ab\\/cd\\/ef=="}', '{"h":"***"}'],
    ['with backslashes of its own, as it is', 'Bearer a\\nb', 'got a\\nb', 'got ***'],
    ['with what looks encoded, as it is', 'Bearer a%41&lt;b', 'a%41&lt;b', '***'],
    ['after the beginning of another copy', 'Bearer ababac', 'x abababac', 'x ab***'],
    ['no text at the end that only has its prefix', 'Bearer longsecretvalue', 'use Bearer', 'use Bearer'],
    ['no other text', 'Bearer s3cr3t-t0ken', 'fine', 'fine'],
    ['a password of Basic from 8 characters on', basicOf('user:12345678'), 'user, 12345678', 'user, ***'],
    ['no shorter password of Basic', basicOf('user:1234567'), 'user, 1234567', 'user, 1234567'],
    ['a password of Basic by its characters, not bytes', basicOf('user:ççççççç'), 'ççççççç', 'ççççççç'],
    [
      'a password of Basic under any spelling of the scheme',
      `bASIC  ${basicOf('user:password').slice(6)}`,
      'user:password',
      'user:***',
    ],
    ['a password of Basic without padding', basicOf('user:passwords').replaceAll('=', ''), 'passwords', '***'],
    ['a password of Basic with colons', basicOf('user:one:two:three'), 'one:two:three', '***'],
    ['a password of Basic with slashes, escaped', basicOf('user:one/two/three'), '"one\\/two\\/three"', '"***"'],
    ['a password of Basic in UTF-8', basicOf('joão:coração-é'), 'joão:coração-é', 'joão:***'],
    ['a password of Basic in Latin-1', basicOf(Buffer.from('joão:coração-é', 'latin1')), 'coração-é', '***'],
    [
      'a password of Basic in Latin-1, read as UTF-8',
      basicOf(Buffer.from('u:coração-é', 'latin1')),
      'cora\ufffd\ufffdo-\ufffd',
      '***',
    ],
    ['no Basic value that is not Base64', 'Basic a!b', 'i a b', 'i a b'],
  ])('%s', (_, authorization, text, expected) => {
    expect(makeRedaction(authorization)(text, false)).toBe(expected);
  });

  it('no text is masked if no credential was sent', () => {
    expect(makeRedaction(undefined)('Bearer x', true)).toBe('Bearer x');
  });

  it('at any place, and all other text is kept', () => {
    const visible = fc.stringMatching(/^[!-~]{8,40}$/);
    const spelling = fc.constantFrom<(text: string) => string>(
      text => text,
      text => text.replaceAll('/', '\\/'),
    );
    // No visible ASCII, so that what is around is no part of a credential.
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

  it('at each character of each occurrence, and only there', () => {
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

describe('a credential that the end of the response cuts off is masked', () => {
  it.each([
    ['from its first character', 'Bearer s3cr3t-t0ken', 'you sent s3cr3t-t0', 'you sent ***'],
    ['if it is two characters long', 'Bearer s3cr3t-t0ken', 'you sent Be', 'you sent ***'],
    ['also of the password', basicOf('user:12345678'), 'with 1234567', 'with ***'],
    ['between escapes', 'Bearer a/b/c/d', '{"h":"a\\/b\\/', '{"h":"***'],
    ['within an escape', 'Bearer a/b/c/d', '{"h":"a\\/b\\', '{"h":"***'],
    ['after one that is whole', 'Bearer abab', 'abab, aba', '***, ***'],
    ['from the longest beginning', 'Bearer ababac', 'x ababa', 'x ***'],
  ])('%s', (_, authorization, text, expected) => {
    expect(makeRedaction(authorization)(text, true)).toBe(expected);
  });

  it('at any length', () => {
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
  ['one letter behind another', `b${'a'.repeat(2_047)}`, 'a'.repeat(65_536)],
  ['many backslashes', `${'\\'.repeat(2_047)}b`, '\\'.repeat(65_536)],
  ['escaped slashes', `${'/'.repeat(2_047)}b`, '\\/'.repeat(32_768)],
  ['a credential of one character', 'a', 'a'.repeat(65_536)],
  ['Basic', basicOf(`${'a'.repeat(700)}:${'a'.repeat(800)}b`), 'a'.repeat(65_536)],
])('masking %s takes no longer than reading', (_, authorization, text) => {
  expect(processorTimeOf(() => makeRedaction(authorization)(text, true))).toBeLessThan(1_000);
});
