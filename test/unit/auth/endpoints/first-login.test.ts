import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeClientAuthentication } from '../../../../lambdas/auth/endpoints/client-authentication.ts';
import { makeTokenEndpoint } from '../../../../lambdas/auth/endpoints/token-endpoint.ts';
import { makeGrants } from '../../../../lambdas/auth/grants/grants.ts';
import { makeSecretUse } from '../../../../lambdas/auth/principals/secret-use.ts';
import { makeIpRateLimit } from '../../../../lambdas/auth/protection/rate-limit.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../../../lambdas/platform/keyring.ts';
import { type AuthService, audience, issuer, quickHashing, startAuthService } from '../../../support/auth-service.ts';
import { httpRequest } from '../../../support/http-request.ts';

let service: AuthService;
let body: string;
beforeAll(async () => {
  service = await startAuthService();
  const { id, secret } = await service.makeClient();
  const { username, password } = await service.makeUser();
  const fields = { grant_type: 'password', client_id: id, client_secret: secret, username, password };
  body = new URLSearchParams(fields).toString();
});
afterAll(() => service.stop());

/**
 * Holds the calls of stores back, and lets them go together: those that are made meanwhile are in a row with them. A function that
 * loads opens its keys while its modules are still evaluated.
 */
const makeGate = () => {
  const held: (() => Promise<unknown>)[] = [];
  let inARow = 0;
  const through = <Answer>(call: () => Promise<Answer>) =>
    new Promise<Answer>((resolve, reject) => {
      held.push(() => call().then(resolve, reject));
    });
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  };
  const letGo = async () => {
    const calls = held.splice(0);
    await Promise.all(calls.map(call => call()));
    await settle();
    return calls.length;
  };
  /** Lets everything go until it has ended; returns how many calls were made one after another. */
  const countUntil = async (ended: Promise<unknown>): Promise<number> => {
    let isOver = false;
    void ended.finally(() => {
      isOver = true;
    });
    for (inARow = 0; !isOver; await new Promise(setImmediate)) if ((await letGo()) > 0) inARow += 1;
    return inARow;
  };
  return { through, letGo, settle, countUntil };
};

/** The token function as a fresh process has it. */
const startProcess = () => {
  const gate = makeGate();
  const { now } = service.clock;
  const dynamo: Dynamo = command => gate.through(() => service.database.dynamo(command));
  const kms: typeof service.kms.client = { send: command => gate.through(() => service.kms.client.send(command)) };
  const keyring = makeKeyring({ dynamo, kms, table: 'Keyring', now });
  const tables = { users: 'Users', credentials: 'Credentials', sessions: 'Sessions', lockouts: 'Lockouts' };
  const telemetry = { log: { info: () => {}, warn: () => {}, error: () => {} }, count: () => {} };
  const ipRateLimit = makeIpRateLimit({ dynamo, table: 'Lockouts', limit: 100, now });
  // The note is made beside the login's own calls, while the password is hashed: it is in no row with them.
  const secretUse = makeSecretUse({ dynamo: service.database.dynamo, table: 'Lockouts', now, log: telemetry.log });
  const endpoint = makeTokenEndpoint({
    ...telemetry,
    dynamo,
    clientAuthentication: makeClientAuthentication({ table: 'Clients', ipRateLimit, secretUse, now }),
    grants: makeGrants({
      ...telemetry,
      ...{ dynamo, tables, keyring, passwords: quickHashing, issuer, audience, now, makeId: randomId },
      ...{ accessTokenSeconds: 900, refreshIdleSeconds: 86_400, refreshAbsoluteSeconds: 864_000 },
      ...{ clientFailureLimit: 100, random: () => 0.5 },
    }),
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const login = () => endpoint(httpRequest({ method: 'POST', path: '/oauth/v1/token', headers, body }));
  return { gate, keyring, login };
};

describe('the first login of a fresh process', () => {
  it('makes three calls in a row where the keys were opened while it loaded', async () => {
    const { gate, keyring, login } = startProcess();
    keyring.openEarly('mac', 'signing');
    for (let round = 0; round < 2; round++) await gate.letGo();
    const answer = login();
    expect(await gate.countUntil(answer)).toBe(3);
    expect((await answer).statusCode).toBe(200);
  });

  it('makes five where they are opened meanwhile, and seven where they were not', async () => {
    for (const [isEarly, expected] of [
      [true, 5],
      [false, 7],
    ] as const) {
      const { gate, keyring, login } = startProcess();
      if (isEarly) keyring.openEarly('mac', 'signing');
      const answer = login();
      expect(await gate.countUntil(answer)).toBe(expected);
      expect((await answer).statusCode).toBe(200);
    }
  });
});
