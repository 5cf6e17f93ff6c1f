import fc from 'fast-check';
import { expect, it } from 'vitest';
import { requestedScope } from '../../../../lambdas/auth/grants/grant.ts';
import { OAuthError } from '../../../../lambdas/auth/oauth-error.ts';
import { scopes } from '../../../../lambdas/auth/principals/scope.ts';
import { oauthCases } from '../../../../lambdas/auth/routes.ts';

// Tests the separators of scopes (RFC 6749 section 3.3).

const makeError = OAuthError.from(oauthCases);
const blanks = fc.stringMatching(/^[\t\n\r ]{1,3}$/);

it('Requested scopes may be surrounded and separated by any blanks.', () => {
  const names = fc.array(fc.tuple(blanks, fc.constantFrom(...scopes)));
  fc.assert(
    fc.property(names, blanks, (list, end) => {
      const scope = list.map(([before, name]) => before + name).join('') + end;
      const expected = list.length > 0 ? new Set(list.map(([, name]) => name)) : undefined;
      for (const sent of [scope, scope.trim()]) {
        expect(requestedScope(new Map([['scope', sent]]), makeError)).toEqual(expected);
      }
    }),
  );
});
