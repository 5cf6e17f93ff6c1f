import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRedaction } from '../../../../lambdas/delivery/worker/redaction.ts';
import { processorTimeOf } from '../../../support/processor-time.ts';
import { amount } from '../../../support/sample.ts';

const basicOf = (pair: string | Buffer): string => `Basic ${Buffer.from(pair).toString('base64')}`;

/** Every character as JSON may write it. */
const escapedUnit = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const hexadecimalOf = (character: string): string => character.charCodeAt(0).toString(16);

describe('what a receiver echoes', () => {
  it.each([
    ['the whole value', 'Bearer s3cr3t-t0ken', 'you sent Bearer s3cr3t-t0ken!', 'you sent ***!'],
    ['each occurrence', 'Bearer s3cr3t-t0ken', 's3cr3t-t0ken, s3cr3t-t0ken', '***, ***'],
    ['occurrences side by side', 'Bearer s3cr3t', 's3cr3ts3cr3t', '******'],
    ['occurrences that overlap', 'Bearer abab', 'xabababx', 'x***x'],
    ['its credential part', 'Basic dXNlcjpwYXNz', '{"auth":"dXNlcjpwYXNz"}', '{"auth":"***"}'],
    ['a value without scheme', 's3cr3t-t0ken', '>s3cr3t-t0ken<', '>***<'],
    ['a credential of several words', 'Digest a="b c", d=e', 'got a="b c", d=e.', 'got ***.'],
    ['escaped in JSON', 'Digest a="b"', '{"h":"Digest a=\\"b\\""}', '{"h":"***"}'],
    ['after two spaces', 'ApiKey  k3y', 'got k3y', 'got ***'],
    ['with slashes escaped, as PHP does', 'Basic ab/cd/ef==', '{"h":"Basic ab\\/cd\\/ef=="}', '{"h":"***"}'],
    ['with signs escaped, as Go does', 'Bearer a<b&c', '{"h":"a\\u003cb\\u0026c"}', '{"h":"***"}'],
    ['with backslashes of its own, as it is', 'Bearer a\\nb', 'got a\\nb', 'got ***'],
    ['with backslashes of its own, escaped', 'Bearer a\\nb', '{"h":"a\\\\nb"}', '{"h":"***"}'],
    [
      'quoted JSON within JSON',
      'Bearer a/"b',
      '{"log":"{\\"h\\":\\"a\\\\/\\\\\\"b\\"}"}',
      '{"log":"{\\"h\\":\\"***\\"}"}',
    ],
    ['nothing at the end that only begins like it', 'Bearer longsecretvalue', 'use Bearer', 'use Bearer'],
    ['nothing of ours', 'Bearer s3cr3t-t0ken', 'fine', 'fine'],
  ])('%s', (_, authorization, text, expected) => {
    expect(makeRedaction(authorization)(text, false)).toBe(expected);
  });

  it('is left alone where nothing was sent', () => {
    expect(makeRedaction(undefined)('Bearer x', true)).toBe('Bearer x');
  });

  it('never shows the credential, wherever it stands and however it is escaped', () => {
    const visible = fc.stringMatching(/^[!-~]{8,40}$/);
    const spelling = fc.constantFrom<(text: string) => string>(
      text => text,
      text => JSON.stringify(text).slice(1, -1),
      text => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
      text => [...text].map(escapedUnit).join(''),
      text => JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1),
    );
    // No visible ASCII, so that what is around is no part of a credential, nor of an escape. Between two copies stands a character:
    // a backslash at the end of one and a quotation mark at the beginning of the next are one escape, and one mask hides both.
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
});

describe('what HTTP Basic encodes', () => {
  it.each([
    ['the pair', basicOf('user:pass'), 'hello user:pass', 'hello ***'],
    ['the pair in JSON', basicOf('us"er:pass'), '{"pair":"us\\"er:pass"}', '{"pair":"***"}'],
    ['a pair without a password', basicOf('api-key:'), 'for api-key:', 'for ***'],
    ['what is no pair', basicOf('api-key'), 'for api-key', 'for ***'],
    ['under any spelling of the scheme', `bASIC  ${basicOf('user:pass').slice(6)}`, 'user:pass', '***'],
    ['without padding', basicOf('user:passw').replaceAll('=', ''), 'user:passw', '***'],
    ['a password alone from 8 characters on', basicOf('user:12345678'), 'user, 12345678', 'user, ***'],
    ['no shorter password alone', basicOf('user:1234567'), 'user, 1234567', 'user, 1234567'],
    ['characters, not bytes', basicOf('user:ççççççç'), 'ççççççç', 'ççççççç'],
    ['a password with colons', basicOf('user:one:two:three'), 'one:two:three', '***'],
    ['UTF-8', basicOf('joão:coração-é'), 'joão:coração-é and cora\\u00e7\\u00e3o-\\u00e9', '*** and ***'],
    ['Latin-1', basicOf(Buffer.from('joão:coração-é', 'latin1')), 'coração-é, jo\\u00e3o:coração-é', '***, ***'],
    ['Latin-1 that came back as such', basicOf(Buffer.from('joão:pass', 'latin1')), 'jo\ufffdo:pass', '***'],
    ['nothing that is no Base64', 'Basic a!b', 'i a b', 'i a b'],
  ])('%s', (_, authorization, text, expected) => {
    expect(makeRedaction(authorization)(text, false)).toBe(expected);
  });
});

describe('a credential that is written in another way', () => {
  const basic = 'Basic bG9qYTpjb3JyZWN0IGhvcnNlIGJhdHRlcnk='; // loja:correct horse battery
  const signs = basicOf('??>:>>>???~~'); // Pz8+Oj4+Pj8/P35+
  it.each([
    ['in a query', basic, '/log?a=Basic%20bG9qYTpjb3JyZWN0IGhvcnNlIGJhdHRlcnk%3D&b', '/log?a=***&b'],
    ['as Handlebars escapes it', basic, '<b>bG9qYTpjb3JyZWN0IGhvcnNlIGJhdHRlcnk&#x3D;</b>', '<b>***</b>'],
    ['with a reference by name', basic, 'bG9qYTpjb3JyZWN0IGhvcnNlIGJhdHRlcnk&equals;', '***'],
    ['with a decimal reference', basic, 'bG9qYTpjb3JyZWN0IGhvcnNlIGJhdHRlcnk&#61;.', '***.'],
    ['without padding', basic, '(bG9qYTpjb3JyZWN0IGhvcnNlIGJhdHRlcnk)', '(***)'],
    ['in base64url', signs, 'Pz8-Oj4-Pj8_P35- Basic Pz8-Oj4-Pj8_P35-', '*** ***'],
    ['in base64url, percent-encoded', signs, 'Pz8%2BOj4%2bPj8%2FP35%2B', '***'],
    ['in Base64 again', 'Bearer s3cr3t-t0ken', 'QmVhcmVyIHMzY3IzdC10MGtlbg== czNjcjN0LXQwa2Vu', '*** ***'],
    ['the pair in a page', basicOf('a<b:c'), '<p>a&lt;b:c</p>', '<p>***</p>'],
    ['the password in a query', basicOf('user:p@ss w/rd'), 'pw=p%40ss%20w%2Frd', 'pw=***'],
    ['the password with accents in a page', basicOf('u:cora\u00e7\u00f5es'), 'cora&ccedil;&otilde;es!', '***!'],
    [
      'the password with accents in a query',
      basicOf('u:cora\u00e7\u00e3o!'),
      'cora%C3%A7%C3%A3o%21 cora%E7%E3o!',
      '*** ***',
    ],
    ['escaped for a page, then by Go', 'Bearer a<b=c', '{"h":"a\\u0026lt;b\\u0026#61;c"}', '{"h":"***"}'],
    ['with what looks encoded, as it is', 'Bearer a%41&lt;b', 'a%41&lt;b', '***'],
    [
      'with what looks encoded, and is not decoded twice',
      'Bearer a%41=&lt;b',
      'a%2541%3D&amp;lt;b a%41%3D&lt;b',
      '*** ***',
    ],
    ['behind what looks like the beginning of a code', 'Bearer 41b=', '100%41b%3D', '100%***'],
    ['cut within a code', basic, 'bG9qYTpjb3JyZWN0IGhvcnNlIGJhdHRlcnk%3', '***'],
  ])('is masked %s', (_, authorization, text, expected) => {
    expect(makeRedaction(authorization)(text, text.endsWith('%3'))).toBe(expected);
  });

  const visible = fc.stringMatching(/^[!-~][ -~]{8,40}[!-~]$/);
  const forms: readonly ((character: string) => string)[] = [
    character => character,
    character => character,
    character => `%${hexadecimalOf(character)}`,
    character => `%${hexadecimalOf(character).toUpperCase()}`,
    character => `&#${character.charCodeAt(0)};`,
    character => `&#0${character.charCodeAt(0)};`,
    character => `&#x${hexadecimalOf(character)};`,
    character => `&#X${hexadecimalOf(character).toUpperCase()};`,
    character =>
      ({ '=': '&equals;', '<': '&lt;', '&': '&amp;', '+': '&plus;', '/': '&sol;', '"': '&quot;' })[character] ??
      character,
  ];
  /** A credential, and the same with any of its characters in any of the forms. */
  const written = fc
    .tuple(visible, fc.array(fc.nat(forms.length - 1), { minLength: 42, maxLength: 42 }))
    .map(([credential, choice]) => ({
      credential,
      pieces: [...credential].map((character, index) => forms[choice[index] ?? 0]?.(character) ?? character),
    }));
  /** What is no part of a credential, though it may look like the beginning of a code. */
  const around = fc.string({
    unit: fc.constantFrom('\u4e00', '\n', '\u00e9', '\u{1f600}', '%', '&', '&#'),
    maxLength: 5,
  });

  it('is masked wherever it stands, with any of its characters in any of the forms', () => {
    fc.assert(
      fc.property(written, around, around, ({ credential, pieces }, before, after) => {
        const masked = makeRedaction(`ApiKey ${credential}`)(`${before}${pieces.join('')}\t${after}`, false);
        expect(masked).toBe(`${before}***\t${after}`);
      }),
      { numRuns: amount({ sample: 400, full: 1_000 }) },
    );
  });

  it('is masked from its first character, wherever the cut falls', () => {
    fc.assert(
      fc.property(written, fc.nat(), ({ credential, pieces }, cut) => {
        const text = pieces.join('');
        const masked = makeRedaction(`ApiKey ${credential}`)(`\u4e00\n${text.slice(0, 1 + (cut % text.length))}`, true);
        expect(masked).toBe('\u4e00\n***');
      }),
      { numRuns: amount({ sample: 400, full: 1_000 }) },
    );
  });

  it('is all that is masked', () => {
    const page = fc.string({
      unit: fc.constantFrom('a', 'Z', '%41', '&lt;', '&#61;', '&#x', '%', '&', '=', '\\u0041', '\\'),
      maxLength: 200,
    });
    fc.assert(
      fc.property(page, text => {
        expect(makeRedaction(basicOf('0123:456789-#'))(text, false)).toBe(text);
      }),
      { numRuns: amount({ sample: 200, full: 500 }) },
    );
  });
});

describe('what the end of what was read cuts off', () => {
  it.each([
    ['is masked from its first character', 'Bearer s3cr3t-t0ken', 'you sent s3cr3t-t0', 'you sent ***'],
    ['however little of it there is', 'Bearer s3cr3t-t0ken', 'you sent Be', 'you sent ***'],
    ['also of the pair', basicOf('user:12345678'), 'you are user:1', 'you are ***'],
    ['also of the password', basicOf('user:12345678'), 'with 1234567', 'with ***'],
    ['between escapes', 'Bearer a/b/c/d', '{"h":"a\\/b\\/', '{"h":"***'],
    ['within an escape', 'Bearer a/b/c/d', '{"h":"a\\/b\\', '{"h":"***'],
    ['within a longer escape', 'Bearer a<b&c', '{"h":"a\\u003cb\\u00', '{"h":"***'],
    ['within its first escape', 'Bearer <b&c', '{"h":"\\u00', '{"h":"***'],
    ['within an escape of an escape', 'Bearer a/b/c/d', '{"l":"{\\"h\\":\\"a\\\\/b\\\\', '{"l":"{\\"h\\":\\"***'],
    ['between the halves of a character', basicOf('\u{1f600}\u{1f601}:x'), '{"h":"\\ud83d\\ude00\\ud83d', '{"h":"***'],
    ['after one that is whole', 'Bearer abab', 'abab, aba', '***, ***'],
    ['from the longest beginning', 'Bearer ababac', 'x ababa', 'x ***'],
  ])('%s', (_, authorization, text, expected) => {
    expect(makeRedaction(authorization)(text, true)).toBe(expected);
  });

  it('shows nothing of the credential, wherever the cut falls', () => {
    const credential = 'Zq/"\\7<K';
    const spellings = [
      credential,
      JSON.stringify(credential).slice(1, -1),
      [...credential].map(escapedUnit).join(''),
      JSON.stringify(JSON.stringify(credential).slice(1, -1)).slice(1, -1),
    ];
    for (const spelling of spellings) {
      for (let length = 1; length <= spelling.length; length++) {
        const cut = `--- ${spelling.slice(0, length)}`;
        expect(makeRedaction(`Bearer ${credential}`)(cut, true)).toBe('--- ***');
      }
    }
  });
});

describe('masking takes no longer than reading', () => {
  // Backtracking took 11 s for the first, and 7 s for the second; for the others it did not end.
  it.each<[string, string, string]>([
    ['backslashes', `${'\\'.repeat(26)}b`, '\\'.repeat(52)],
    ['one letter', `${'a'.repeat(2_047)}b`, 'a'.repeat(65_536)],
    ['many backslashes', `${'\\'.repeat(2_047)}b`, '\\'.repeat(65_536)],
    ['escapes', `${'a'.repeat(2_047)}b`, '\\u0061'.repeat(10_922)],
    ['a credential of one character', 'a', 'a'.repeat(65_536)],
    ['Basic', basicOf(`${'a'.repeat(700)}:${'a'.repeat(800)}b`), 'a'.repeat(65_536)],
    ['codes', `${'%61'.repeat(682)}b`, '%61'.repeat(21_845)],
    ['references', `${'&#97;'.repeat(409)}b`, '&#97;'.repeat(13_107)],
    ['the beginnings of references', `${'&'.repeat(2_047)}b`, '&'.repeat(65_536)],
    ['a reference of many digits', `${'a'.repeat(2_047)}b`, `&#${'0'.repeat(65_534)}`],
  ])('%s', (_, authorization, text) => {
    expect(processorTimeOf(() => makeRedaction(authorization)(text, true))).toBeLessThan(1_000);
  });
});
