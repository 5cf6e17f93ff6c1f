import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeClientAuthentication } from '../../../../lambdas/auth/endpoints/client-authentication.ts';
import { makeSelfCheck, withoutCount } from '../../../../lambdas/auth/endpoints/self-check.ts';
import { makeTokenEndpoint } from '../../../../lambdas/auth/endpoints/token-endpoint.ts';
import { makeIpRateLimit } from '../../../../lambdas/auth/protection/rate-limit.ts';
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

it('passes however often it runs within a minute, with the least limit of an address, and leaves no count', async () => {
  const { dynamo } = service.database;
  const { now } = service.clock;
  const secretUse = { note: () => {}, settled: async () => {} };
  const ipRateLimit = withoutCount(makeIpRateLimit({ dynamo, table: 'Lockouts', limit: 1, now }));
  const tokenEndpoint = makeTokenEndpoint({
    dynamo,
    clientAuthentication: makeClientAuthentication({ table: 'Clients', ipRateLimit, secretUse, now }),
    grants: { password: {} as never, refresh_token: { prepare: async () => ({ keysToRead: {} }) as never } },
    log: { info: () => {}, warn: () => {}, error: () => {} },
    count: () => {},
  });
  for (let time = 0; time < 3; time++) await check({ tokenEndpoint });
  const { Items = [] } = await dynamo(new ScanCommand({ TableName: 'Lockouts' }));
  expect(Items.filter(({ pk }) => pk === 'ip#0.0.0.0')).toEqual([]);
});

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
