import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readFormRequest } from '../../../lambdas/auth/form-request.ts';
import { OAuthError } from '../../../lambdas/auth/oauth-error.ts';
import { oauthCases } from '../../../lambdas/auth/routes.ts';
import { httpRequest } from '../../support/http-request.ts';

// Tests the content type of form requests (RFC 6749 section 3.2).

const makeError = OAuthError.from(oauthCases);
const read = (contentType: string) =>
  readFormRequest(
    httpRequest({ method: 'POST', headers: { 'content-type': contentType }, body: 'x=%C3%A7' }),
    makeError,
  );
const outcome = (contentType: string) => {
  try {
    return [...read(contentType)];
  } catch (error) {
    return error instanceof OAuthError ? error.oauthCase : error;
  }
};

const blanks = fc.stringMatching(/^[\t ]{0,2}$/);
const token = fc.stringMatching(/^[\w!#$%&'*+.^`|~-]{1,20}$/);
const value = fc.oneof(
  token,
  token.map(name => `"${name}"`),
  fc.constantFrom('', 'ISO-8859-1', 'us-ascii', 'windows-1252'),
);
const parameter = (name: fc.Arbitrary<string>, of = value) =>
  fc.tuple(blanks, blanks, name, of).map(([before, after, left, right]) => `${before};${after}${left}=${right}`);
const isOtherUnicode = (text: string) => /^"?utf-?(16|32)/i.test(text);

it('A form request may have any content type parameters except the charsets UTF-16 and UTF-32.', () => {
  const name = fc.oneof(fc.constantFrom('charset', 'Charset', 'boundary'), token);
  const harmless = value.filter(text => !isOtherUnicode(text));
  fc.assert(
    fc.property(fc.array(parameter(name, harmless), { maxLength: 3 }), parameters => {
      expect(outcome(`application/x-www-form-urlencoded${parameters.join('')}`)).toEqual([['x', 'ç']]);
    }),
  );
});

it('A form request is rejected if any parameter declares UTF-16 or UTF-32.', () => {
  const charset = fc.constantFrom('utf-16', 'UTF-16BE', '"utf-16le"', 'utf16', 'UTF-32', 'utf-32le', '"UTF32"');
  const others = fc.array(parameter(token), { maxLength: 2 });
  fc.assert(
    fc.property(others, parameter(fc.constantFrom('charset', 'CHARSET'), charset), others, (before, wide, after) => {
      expect(outcome(`application/x-www-form-urlencoded${[...before, wide, ...after].join('')}`)).toBe('content_type');
    }),
  );
});
