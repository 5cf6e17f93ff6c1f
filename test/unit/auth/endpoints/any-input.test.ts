import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeDiscovery } from '../../../../lambdas/auth/endpoints/discovery.composition.ts';
import {
  type AuthService,
  authEnvironment,
  basic,
  type ClientCredentials,
  startAuthService,
} from '../../../support/auth-service.ts';
import { httpRequest } from '../../../support/http-request.ts';
import { fakeKeyDerivation } from '../../../support/password-hashing.ts';
import { amount } from '../../../support/sample.ts';

// Tests that no input causes a 5xx response (docs/en/errors.md).

let service: AuthService;
let client: ClientCredentials;
let user: { username: string; password: string };
let tokens: { access_token: string; refresh_token: string };
beforeAll(async () => {
  service = await startAuthService({ keyDerivation: fakeKeyDerivation(() => true) });
  client = await service.makeClient();
  user = await service.makeUser();
  tokens = (await service.logIn(client, user)).json;
});
afterAll(() => service.stop());

/** Generates blanks, control characters, characters that change length in lower case, and names of valid values. */
const text = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('', ' ', '\t', '\u00a0', '\ufeff', '\u2003 ', '%20', '+', '\u0130', '-', '.'),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 300 }) },
  { weight: 2, arbitrary: fc.constantFrom('id', 'secret', 'username', 'access_token', 'refresh_token') },
);
const validValue = (text: string): string =>
  Object.entries({ ...client, ...user, ...tokens }).find(([name]) => name === text)?.[1] ?? text;

const login = ['grant_type', 'client_id', 'client_secret', 'username', 'password', 'refresh_token', 'scope'] as const;
const name = fc.constantFrom<string>(...login, 'token', 'token_type_hint');
const fields = fc.uniqueArray(fc.tuple(name, text), { selector: ([name]) => name });
const grantType = fc.constantFrom('password', 'refresh_token', 'client_credentials', ' ', '__proto__');

/** Returns a form with valid client credentials if `isAuthentic`, to test the code after the authentication, or with generated ones. */
const formOf = (fields: readonly (readonly [string, string])[], grant: string, isAuthentic: boolean) => ({
  ...Object.fromEntries(fields.map(([name, value]) => [name, validValue(value)])),
  grant_type: grant,
  ...(isAuthentic ? { client_id: client.id, client_secret: client.secret } : {}),
});

const headers = fc.record(
  {
    authorization: fc.oneof(
      text,
      text.map(value => `Basic ${value}`),
      text.map(value => `Basic ${Buffer.from(value).toString('base64')}`),
      text.map(value => `Bearer ${value}`),
      fc.tuple(text, text).map(([id, secret]) => basic(encodeURIComponent(id.toWellFormed()), secret)),
    ),
    'content-type': fc.oneof(
      text,
      fc
        .constantFrom('', 'utf-8', 'ISO-8859-1', '"utf-16')
        .map(name => `application/x-www-form-urlencoded;charset=${name}`),
    ),
  },
  { requiredKeys: [] },
);

const endpoints = ['token', 'revoke', 'introspect'] as const;
const runs = { numRuns: amount({ sample: 100, full: 300 }) };

describe('The service', () => {
  it.each(endpoints)('returns a status below 500 for any form at %s.', async endpoint => {
    await fc.assert(
      fc.asyncProperty(fields, grantType, fc.boolean(), async (fields, grant, isAuthentic) => {
        const response = await service.post(endpoint, formOf(fields, grant, isAuthentic));
        expect(response.status).toBeLessThan(500);
      }),
      runs,
    );
  });

  it.each(endpoints)('returns a status below 500 for any headers and body at %s.', async endpoint => {
    await fc.assert(
      fc.asyncProperty(headers, fc.uint8Array({ maxLength: 200 }), text, async (headers, body, query) => {
        const response = await service.send(endpoint, { headers, body, query });
        expect(response.status).toBeLessThan(500);
      }),
      runs,
    );
  });

  it('rejects any invalid Authorization header at {base_url}.', async () => {
    await fc.assert(
      fc.asyncProperty(headers, async ({ authorization }) => {
        expect(['missing', 'invalid']).toContain((await service.authenticate(authorization)).outcome);
      }),
      runs,
    );
  });

  it('returns 404 for any unknown path and method at {auth_url}.', async () => {
    const discover = composeDiscovery(authEnvironment, service.runtime, service.telemetry);
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', ''), async (path, method) => {
        expect((await discover(httpRequest({ path: `/${path}`, method }))).statusCode).toBe(404);
      }),
      runs,
    );
  });
});
