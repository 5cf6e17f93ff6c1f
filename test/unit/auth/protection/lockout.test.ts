import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { oauthCases } from '../../../../lambdas/auth/routes.ts';
import { type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';
import { fakeKeyDerivation } from '../../../support/password-hashing.ts';

// Tests the documented limits. The world tests check locks in bursts and races (lab/world/auth/lock-model.ts).

/** Delays the verification of passwords that start with `slow`. */
let hold = Promise.withResolvers<void>();
let heldLogins = 0;
const isCorrect = async (password: string): Promise<boolean> => {
  if (password.startsWith('slow')) {
    heldLogins++;
    await hold.promise;
  }
  return !password.endsWith('wrong');
};

let client: ClientCredentials;
const service = await startAuthService({ keyDerivation: fakeKeyDerivation(isCorrect) });
afterAll(() => service.stop());
beforeEach(async () => {
  hold = Promise.withResolvers<void>();
  heldLogins = 0;
  client = await service.makeClient();
});

const login = (username: string, password: string, from = client) => service.logIn(from, { username, password });
const fail = async (times: number, username: string): Promise<void> => {
  for (let time = 0; time < times; time++) await login(username, 'wrong');
};
const [status, error, error_description] = oauthCases.credentials_rejected;
const rejection = { status, json: { error, error_description } };

it('The fifth failure locks an address for 1 s, and each further failure doubles the lock.', async () => {
  const { username, password } = await service.makeUser();
  await fail(4, username);
  expect(await login(username, password)).toMatchObject({ status: 200 });
  await fail(5, username);
  for (const seconds of [1, 2, 4]) {
    service.clock.advance(seconds * 1_000 - 1);
    expect(await login(username, password)).toMatchObject(rejection);
    service.clock.advance(1);
    await fail(1, username);
  }
  service.clock.advance(8_000);
  expect(await login(username, password)).toMatchObject({ status: 200 });
});

it('A lock lasts at most 15 minutes and affects only one client.', async () => {
  const { username, password } = await service.makeUser();
  await fail(4, username);
  for (let time = 0; time < 11; time++) {
    service.clock.advance(15 * 60_000);
    await fail(1, username); // the last failure is the 15th, which would lock for 1,024 s without the limit
  }
  service.clock.advance(15 * 60_000 - 1);
  expect(await login(username, password)).toMatchObject(rejection);
  expect(await login(username, password, await service.makeClient())).toMatchObject({ status: 200 });
  service.clock.advance(1);
  expect(await login(username, password)).toMatchObject({ status: 200 });
});

it('Failures count for 24 hours and are stored without the e-mail address.', async () => {
  const { username, password } = await service.makeUser();
  await fail(4, username);
  const { Items } = await service.database.dynamo(new ScanCommand({ TableName: 'Lockouts' }));
  expect(Items?.length).toBeGreaterThan(0);
  expect(JSON.stringify(Items)).not.toContain(username.split('@')[0]);
  service.clock.advance(24 * 3_600_000);
  await fail(4, username);
  expect(await login(username, password)).toMatchObject({ status: 200 });
});

it('A correct password for scopes that the role lacks counts as a failure if a lock starts during the login.', async () => {
  const { username, password } = await service.makeUser({ role: 'member' });
  const guess = { username, password: `slow ${password}` };
  const pending = service.logIn(client, guess, { scope: 'webhooks:read' });
  while (heldLogins < 1) await new Promise(setImmediate);
  await fail(5, username);
  service.clock.advance(1_000);
  hold.resolve();
  expect(await pending).toMatchObject(rejection);
  expect(service.logs.at(-1)).toContain('user_locked_during_login');
  service.clock.advance(1_999); // the sixth failure locks for 2 s
  expect(await login(username, password)).toMatchObject(rejection);
  service.clock.advance(1);
  expect(await login(username, password)).toMatchObject({ status: 200 });
});

it('Unlocking returns whether any failures still counted, even if the SDK repeats the call.', async () => {
  const { username, password } = await service.makeUser();
  expect(await service.lockout.unlock(username)).toBe(false);
  await fail(5, username);
  service.database.repeatNext('DeleteItemCommand');
  expect(await service.lockout.unlock(username)).toBe(true);
  expect(await login(username, password)).toMatchObject({ status: 200 });
  await fail(1, username);
  service.clock.advance(24 * 3_600_000);
  expect(await service.lockout.unlock(username)).toBe(false);
});
