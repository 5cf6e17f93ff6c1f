import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseWebhookUrl } from '../../../../lambdas/platform/egress/url-policy.ts';

const ownHosts = ['auth.emissor.example.net', 'Base.Emissor.example.net.'];

const codesOf = (text: string): string[] => {
  const verdict = parseWebhookUrl(text, ownHosts);
  return verdict.outcome === 'rejected' ? verdict.findings.map(finding => finding.code) : [];
};

const longest = `https://receiver.example.com/${'a'.repeat(2_048 - 'https://receiver.example.com/'.length)}`;
const maxOfWide = `https://receiver.example.com/${'\u{1f600}'.repeat(2_048 - 'https://receiver.example.com/'.length)}`;
const label63 = 'a'.repeat(63);
const name253 = `${label63}.${label63}.${label63}.${'a'.repeat(57)}.com`;

describe('parseWebhookUrl', () => {
  it.each([
    'https://receiver.example.com',
    maxOfWide, // counts code points, not UTF-16 units
    'https://receiver.example.com/hook?a=b&c=%23',
    'https://example.com/',
    'https://receiver.example.com./hook',
    ...[443, 1_024, 65_535].map(port => `https://receiver.example.com:${port}/`),
    'HTTPS://Receiver.Example.COM/',
    'https:receiver.example.com',
    ...'93.184.216.34 bücher.example.com a_b.example.com localhost.example.com internal.com x.auth.emissor.example.net'
      .split(' ')
      .map(host => `https://${host}/`),
    'https://receiver.example.com/a@b',
    'https://receiver.example.com?q=a@b',
    longest,
    `https://${name253}/`,
  ])('accepts %s', text => {
    expect(codesOf(text)).toEqual([]);
  });

  it.each([
    ['http://receiver.example.com/', ['url_not_https']],
    ['ftp://receiver.example.com/', ['url_not_https']],
    ['ws://receiver.example.com/', ['url_not_https']],
    ['file:///etc/passwd', ['url_not_https']],
    ['javascript:alert(1)', ['url_not_https']],
    ['httpss://receiver.example.com/', ['url_not_https']],
    ['receiver.example.com:443', ['url_not_https']],
    ['http://localhost/', ['url_not_https', 'url_not_public']],
    ['http://receiver.example.com:80/', ['url_not_https']],
    ['http://receiver.example.com:22/', ['url_not_https', 'url_invalid']],
  ])('rejects the scheme of %s', (text, codes) => {
    expect(codesOf(text)).toEqual(codes);
  });

  const noHost = ['', '/', '?', '[127.0.0.1]/', '[::1%lo]/', '[::1/', '1.2.3.4.5/', '256.1.1.1/', '1.2.3.999/'];
  const noName = ['a b.example.com/', 'a%00b.example.com/', '127.1.1.1:80:@@127.2.2.2/'];
  it.each([
    ...['', ' ', 'receiver.example.com', '/hook', '//receiver.example.com/'],
    ...[...noHost, ...noName].map(rest => `https://${rest}`),
    ...['65536', 'port'].map(port => `https://receiver.example.com:${port}/`),
  ])('rejects %j, which is not a valid URL', text => {
    expect(codesOf(text)).toContain('url_invalid');
  });

  it.each([
    ...['user@', 'user:password@', ':password@', '@', ':@'].map(info => `https://${info}receiver.example.com/`),
    'https:@receiver.example.com/',
    'https:///@receiver.example.com/',
    'https://receiver.example.com/#',
    'https://receiver.example.com/#part',
    'https://receiver.example.com#@evil.example.com/',
    ...[0, 22, 80, 442, 444, 1_023].map(port => `https://receiver.example.com:${port}/`),
    `${longest}a`,
  ])('rejects the userinfo, fragment, port or length of %j', text => {
    expect(codesOf(text)).toEqual(['url_invalid']);
  });

  it.each([
    ...[
      ...'localhost LOCALHOST:8443 localhost. intranet receiver com metadata.google.internal.'.split(' '),
      ...'example..com .example.com receiver.example.com.. -a.example.com a-.example.com'.split(' '),
      ...['a*.example.com', 'a,b.example.com', `a${label63}.example.com`, `${name253}m`],
      ...'auth.emissor.example.net AUTH.emissor.example.net.:8443 base.emissor.example.net'.split(' '),
      ...'[::1] [2606:4700:4700::1111] [::ffff:93.184.216.34]'.split(' '),
      ...'127.0.0.1 127.0.0.1. 10.0.0.1:8443 169.254.169.254 ①②⑦.0.0.1 127。0。0。1 ⓛocalhost'.split(' '),
    ].map(host => `https://${host}/`),
    ...'localhost local internal test invalid example onion alt arpa lan home corp intranet localdomain'
      .split(' ')
      .flatMap(suffix => [`https://a.${suffix}/`, `https://a.b.${suffix.toUpperCase()}./`]),
    'https:127.0.0.1',
  ])('rejects the host of %s', text => {
    expect(codesOf(text)).toEqual(['url_not_public']);
  });

  // The WHATWG parser strips the first kinds and treats backslashes as slashes. Other software does neither.
  it.each([
    ...[...'\t\n\r\0\x1f\x7f\x80\x9f \u00a0\u2003\u2028\u3000\\'].flatMap(character => [
      `https://receiver.example.com/a${character}b`,
      `https://receiver.example.com/?a=${character}b`,
      `https://receiver.example.com/${character}`,
    ]),
    ...['\t', '\n', '\r', '\0', '\x1f', ' '].map(character => `${character}https://receiver.example.com/`),
    ...['\t', '\n', '\r'].flatMap(character => [
      `ht${character}tps://receiver.example.com/`,
      `https://receiver.exa${character}mple.com/`,
    ]),
    'https:\\\\receiver.example.com/',
    'https:/\\receiver.example.com/',
    'https://receiver.example.com\\hook',
    'https://receiver.example.com:84\t43/',
    'https://receiver example.com/',
  ])('rejects the control character, space or backslash in %j', text => {
    expect(codesOf(text)).toEqual(['url_invalid']);
  });

  it.each(['https://loc\talho\nst/', ' https://localhost/ ', 'https:\\\\localhost\\hook', 'https://1\t2\n7.0.0.1/'])(
    'also rejects the host in %j',
    text => {
      expect(codesOf(text)).toEqual(['url_invalid', 'url_not_public']);
    },
  );

  it('accepts these characters if they are percent-encoded', () => {
    expect(codesOf('https://receiver.example.com/a%20b%09%5C?c=%0A')).toEqual([]);
  });

  it('does not parse a URL that is too long', () => {
    const parse = vi.spyOn(URL, 'parse');
    expect(codesOf(`http://${'a'.repeat(2_048)}.localhost/`)).toEqual(['url_invalid']);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('returns all findings', () => {
    const findings = ['url_not_https', 'url_invalid', 'url_invalid', 'url_not_public'];
    expect(codesOf('http://user@localhost/#x')).toEqual(findings);
    expect(codesOf('http://user@localhost/#x y')).toEqual(['url_invalid', ...findings]);
    expect(codesOf(`${'x '.repeat(1_025)}`)).toEqual(['url_invalid', 'url_invalid']);
  });

  it('checks the host that the connection will use for any form of authority', () => {
    for (const text of ['https://a.com@127.0.0.1/', 'https://a.com:443@127.0.0.1/', 'https://@@127.0.0.1/']) {
      expect(codesOf(text)).toEqual(['url_invalid', 'url_not_public']);
    }
    expect(codesOf('https://127.0.0.1\\@a.com/')).toEqual(['url_invalid', 'url_not_public']);
    expect(codesOf('https://a.com\\@127.0.0.1/')).toEqual(['url_invalid']); // a path on a.com
  });

  it('rejects a special IPv4 address in every spelling that the parser accepts', () => {
    const special = fc.constantFrom(0x7f000001, 0x0a000001, 0xa9fea9fe, 0xc0a80001, 0xac100001, 0x64400001, 0x00000000);
    const octet = (value: number, style: number) =>
      [String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`, `0X00${value.toString(16)}`][style] ?? '';
    const spelling = fc
      .tuple(special, fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }), fc.boolean())
      .map(([value, parts, styles, dot]) => {
        const bytes = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
        const last = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0);
        const written = [...bytes.slice(0, parts - 1), last].map((part, index) => octet(part, styles[index] ?? 0));
        return `${written.join('.')}${dot ? '.' : ''}`;
      });
    const disguise = fc.constantFrom<(text: string) => string>(
      text => text,
      text => [...text].map(character => `%${character.charCodeAt(0).toString(16)}`).join(''),
      text => text.replaceAll(/[!-~]/g, character => String.fromCodePoint(character.charCodeAt(0) + 0xfee0)),
      text => [...text].join('\u200b'),
      text => [...text].join('\t'),
    );
    fc.assert(
      fc.property(spelling, disguise, (host, hide) => {
        expect(codesOf(`https://${hide(host)}/`)).toContain('url_not_public');
      }),
      { numRuns: 500 },
    );
  });

  it('rejects a private name in every spelling', () => {
    const name = fc.constantFrom('localhost', 'db.internal', 'printer.local', 'auth.emissor.example.net', 'a.home');
    const mixedCase = fc.infiniteStream(fc.boolean());
    const disguise = fc.constantFrom<(text: string) => string>(
      text => text,
      text => `${text}.`,
      text => [...text].map(character => `%${character.charCodeAt(0).toString(16)}`).join(''),
      text => [...text].join('\u00ad'),
      text => text.replaceAll(/[!-~]/g, character => String.fromCodePoint(character.charCodeAt(0) + 0xfee0)),
    );
    fc.assert(
      fc.property(name, mixedCase, disguise, (text, upper, hide) => {
        const mixed = [...text].map(character => (upper.next().value ? character.toUpperCase() : character)).join('');
        expect(codesOf(`https://${hide(mixed)}/`)).toEqual(['url_not_public']);
      }),
      { numRuns: 300 },
    );
  });

  it('never throws, and accepts only https URLs with a plain host', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map(rest => `https://${rest}`),
        ),
        text => {
          const verdict = parseWebhookUrl(text, ownHosts);
          if (verdict.outcome === 'rejected') return verdict.findings.length > 0;
          return /^https:\/\/[a-z0-9_.-]+(:\d+)?\//.test(verdict.url.href);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
