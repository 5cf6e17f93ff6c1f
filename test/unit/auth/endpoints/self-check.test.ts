import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeSelfCheck } from '../../../../lambdas/auth/endpoints/self-check.ts';
import { type AuthService, startAuthService } from '../../../support/auth-service.ts';

let service: AuthService;
beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

type Parts = Parameters<typeof makeSelfCheck>[0];

const check = (changes: Partial<Parts> = {}) =>
  makeSelfCheck({
    assertHashing: async () => {},
    keyring: service.keyring,
    tokenEndpoint: async ({ body = '', headers }) => {
      const answer = await service.send('token', { body, headers: headers as Record<string, string> });
      return { statusCode: answer.status, body: answer.text };
    },
    ...changes,
  })();

it('passes where all works', () => expect(check()).resolves.toBeUndefined());

it.each<[string, Partial<Parts>, RegExp]>([
  ['no hash', { assertHashing: () => Promise.reject(new Error('no Argon2id')) }, /no Argon2id/],
  [
    'no access to the key',
    {
      keyring: { active: kind => service.keyring.active(kind), open: () => Promise.reject(new Error('AccessDenied')) },
    },
    /AccessDenied/,
  ],
  [
    'no access to its tables',
    { tokenEndpoint: async () => ({ statusCode: 500, body: '{"error":"server_error"}' }) },
    /A login of nobody was answered with 500: .*server_error/,
  ],
])('fails with %s', (_case, changes, message) => expect(check(changes)).rejects.toThrow(message));
