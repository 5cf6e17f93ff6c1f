import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSessionBeginning } from '../../../../lambdas/auth/grants/begin-session.ts';
import type { Grant } from '../../../../lambdas/auth/grants/grant.ts';
import { makePasswordGrant } from '../../../../lambdas/auth/grants/password.ts';
import { OAuthError } from '../../../../lambdas/auth/oauth-error.ts';
import type { Client } from '../../../../lambdas/auth/principals/client.ts';
import { oauthCases } from '../../../../lambdas/auth/routes.ts';
import { readRecords } from '../../../../lambdas/platform/aws/batch-get.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { type AuthService, startAuthService } from '../../../support/auth-service.ts';
import { quickHashing } from '../../../support/password-hashing.ts';

const bursts = 200;
const maySucceed = 20;
const guesses = 100;

const refuse = OAuthError.from(oauthCases);

let service: AuthService;
let grant: Grant;
beforeAll(async () => {
  service = await startAuthService();
  const { database, sessions, lockout, clock } = service;
  grant = makePasswordGrant({
    dynamo: database.dynamo,
    tables: { users: 'Users', credentials: 'Credentials' },
    // without the cost of a hash all guesses are concurrent
    passwords: { ...quickHashing, verify: async password => password !== 'wrong', needsRehash: () => false },
    lockout,
    clientRateLimit: {
      keyOf: client => ({ table: 'Lockouts', key: { pk: `client#${client}`, sk: 'refused' } }),
      secondsToWait: () => undefined,
      count: async () => undefined,
    },
    beginSession: makeSessionBeginning({
      sessions,
      lockout,
      prepareTokens: async () => ({
        keyId: 'any',
        write: async () => ({ access_token: 'any', token_type: 'Bearer', expires_in: 900 }),
      }),
      now: clock.now,
      makeId: randomId,
    }),
    log: { error: () => {} },
    makeId: randomId,
  });
});
afterAll(() => service.stop());

/** Returns whether a login succeeds. */
const logIn = async (client: Client, username: string, password: string): Promise<boolean> => {
  const prepared = await grant.prepare(new Map(Object.entries({ username, password })), refuse, client.clientId);
  const records = await readRecords(service.database.dynamo, prepared.keysToRead);
  try {
    await prepared.issue({ client, records, auditContext: { ip: '203.0.113.7', endpoint: 'token' }, refuse });
    return true;
  } catch (error) {
    if (error instanceof OAuthError && error.code === 'invalid_grant') return false;
    throw error;
  }
};

describe('a burst of concurrent guesses', () => {
  it('gets little more than five attempts, and the longest lock for its client alone', async () => {
    const [{ client }, { client: other }] = await Promise.all([service.makeClient(), service.makeClient()]);
    let succeeded = 0;
    for (let burst = 0; burst < bursts; burst++) {
      const { username } = await service.makeUser();
      // stratified at random: over all bursts as often early as late, so that the number of successes hardly varies
      const right = Math.floor(((burst + Math.random()) * guesses) / bursts);
      const answers = await Promise.all(
        Array.from({ length: guesses }, (_, position) =>
          logIn(client, username, position === right ? 'right' : 'wrong'),
        ),
      );
      if (answers.includes(true)) succeeded++;
      service.clock.advance(15 * 60_000 - 1);
      expect(await logIn(client, username, 'right')).toBe(false);
      expect(await logIn(other, username, 'right')).toBe(true);
      service.clock.advance(1);
      expect(await logIn(client, username, 'right')).toBe(true);
    }
    expect(succeeded).toBeLessThanOrEqual(maySucceed);
  }, 600_000);
});
