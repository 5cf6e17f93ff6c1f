import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grant } from '../../../../lambdas/auth/grants/grant.ts';
import { makePasswordGrant } from '../../../../lambdas/auth/grants/password.ts';
import { OAuthError } from '../../../../lambdas/auth/oauth-error.ts';
import type { Client } from '../../../../lambdas/auth/principals/client.ts';
import { passwordHashing } from '../../../../lambdas/auth/principals/password-hash.ts';
import { readRecords } from '../../../../lambdas/platform/batch-get.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { type AuthService, startAuthService } from '../../../support/auth-service.ts';

/**
 * `npm test` makes 40 bursts, which tells a lockout that lets bursts in from one that does not. The full measure, 200
 * bursts, costs a minute of processor time: EMISSOR_GUESS_BURSTS=full asks for it, and the gate does (`.ci/run`).
 */
const { bursts, mayGetIn } =
  process.env.EMISSOR_GUESS_BURSTS === 'full' ? { bursts: 200, mayGetIn: 20 } : { bursts: 40, mayGetIn: 6 };
const guesses = 100;

let service: AuthService;
let grant: Grant;
beforeAll(async () => {
  service = await startAuthService();
  const { dynalite, sessions, lockout, clock } = service;
  grant = makePasswordGrant({
    dynamo: dynalite.dynamo,
    userTables: { users: 'Users', credentials: 'Credentials' },
    credentials: { replacePasswordHash: async () => true },
    sessions,
    // a hash that costs nothing slows nobody down
    passwords: { ...passwordHashing, verify: async password => password !== 'wrong', needsRehash: () => false },
    lockout,
    clientRateLimit: { count: async () => undefined },
    prepareTokens: async () => ({
      keyId: 'any',
      write: async () => ({ access_token: 'any', token_type: 'Bearer', expires_in: 900 }),
    }),
    refreshIdleSeconds: 900,
    refreshAbsoluteSeconds: 900,
    now: clock.now,
    makeId: randomId,
  });
});
afterAll(() => service.stop());

/** Whether a password lets the user in. */
const logIn = async (client: Client, username: string, password: string): Promise<boolean> => {
  const prepared = await grant.prepare(new Map(Object.entries({ username, password })), client.clientId);
  const records = await readRecords(service.dynalite.dynamo, prepared.reads);
  try {
    await prepared.issue({ client, records, auditContext: { address: '203.0.113.7', endpoint: 'token' } });
    return true;
  } catch (error) {
    if (error instanceof OAuthError && error.code === 'invalid_grant') return false;
    throw error;
  }
};

describe('guesses that are all made at the same moment', () => {
  it('get little more than five tries, and the longest lock for their client alone', async () => {
    const [{ client }, { client: other }] = await Promise.all([service.makeClient(), service.makeClient()]);
    let letIn = 0;
    for (let burst = 0; burst < bursts; burst++) {
      const { username } = await service.makeUser();
      // at random, yet over all bursts as often early as late: how many get in is then not a matter of luck
      const right = Math.floor(((burst + Math.random()) * guesses) / bursts);
      const answers = await Promise.all(
        Array.from({ length: guesses }, (_, place) => logIn(client, username, place === right ? 'right' : 'wrong')),
      );
      if (answers.includes(true)) letIn++;
      service.clock.advance(15 * 60_000 - 1);
      expect(await logIn(client, username, 'right')).toBe(false);
      expect(await logIn(other, username, 'right')).toBe(true);
      service.clock.advance(1);
      expect(await logIn(client, username, 'right')).toBe(true);
    }
    expect(letIn).toBeLessThanOrEqual(mayGetIn);
  }, 600_000);
});
