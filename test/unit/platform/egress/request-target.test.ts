import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestTarget } from '../../../../lambdas/platform/egress/request-target.ts';
import { parseWebhookUrl } from '../../../../lambdas/platform/egress/url-policy.ts';
import { ok, request, say, start } from './posting.ts';

describe('the request target', () => {
  // Tomcat 10 returns 400 for each of { | [ ^ and backtick.
  it.each([
    ['/h?f={a|b}&g=[1]', '/h?f=%7Ba%7Cb%7D&g=%5B1%5D'],
    ['/{a|b}/[c]/^`', '/%7Ba%7Cb%7D/%5Bc%5D/%5E%60'],
    ['/?`^', '/?%60%5E'],
    ['/%7Ba%7c?b=%5B1%5D&c=%2525', '/%7Ba%7c?b=%5B1%5D&c=%2525'],
    ['/100%?a=%zz&b=%4', '/100%25?a=%25zz&b=%254'],
    ['/ação?é="<\'>', '/a%C3%A7%C3%A3o?%C3%A9=%22%3C%27%3E'],
    ["/a-._~!$&'()*+,;=:@/b?c=-._~!$&()*+,;=:@/?", "/a-._~!$&'()*+,;=:@/b?c=-._~!$&()*+,;=:@/?"],
    ['//a//?', '//a//'],
    ['', '/'],
    ['?a', '/?a'],
  ])('of %s is %s on the wire', async (rest, target) => {
    const { receiver, post } = await start(say(ok));
    await post({ ...request, url: `https://receiver.example.com${rest}` });
    expect(receiver.requests.map(({ text }) => text.split('\r\n', 1)[0])).toEqual([`POST ${target} HTTP/1.1`]);
  });

  it('conforms to RFC 3986 for every accepted URL, and encodes the same bytes', () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom(...'/?%{|}[]^`\'"<>;:@&=+$,2fF'), fc.string({ unit: 'grapheme', maxLength: 1 })),
    });
    fc.assert(
      fc.property(text, text, (path, query) => {
        const verdict = parseWebhookUrl(`https://receiver.example.com/${path}?${query}`, []);
        fc.pre(verdict.outcome === 'accepted');
        const { url } = verdict;
        const target = requestTarget(url);
        expect(target).toMatch(originForm);
        expect(decoded(target)).toBe(decoded(`${url.pathname}${url.search}`));
      }),
    );
  });
});

/** Matches a request target (RFC 9112 section 3.2.1, with `segment` and `query` of RFC 3986 sections 3.3 and 3.4). */
const originForm = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\dA-F]{2})*)+(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[\dA-F]{2})*)?$/i;

/** Returns the bytes of a percent-encoded ASCII text as hexadecimal digits. */
function decoded(text: string): string {
  return text.replace(/%[\dA-F]{2}|./gi, part =>
    part.length === 3 ? part.slice(1).toLowerCase() : part.charCodeAt(0).toString(16),
  );
}
