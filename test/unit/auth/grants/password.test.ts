import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Item } from '../../../../lambdas/platform/aws/dynamo.ts';
import { updateItem } from '../../../../lambdas/platform/aws/update-item.ts';
import { type KeyDerivation, systemKeyDerivation } from '../../../../lambdas/platform/key-derivation.ts';
import { type AuthService, type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';

// Tests the password grant (RFC 6749 section 4.3). The world tests check logins, locks, counts and calls (lab/world/auth/invariants).

let service: AuthService;
let client: ClientCredentials;
/** The memory in KiB for which hashing fails. */
let failingMemory = 0;
beforeAll(async () => {
  const argon2: KeyDerivation['argon2'] = (algorithm, message, cost) =>
    cost.memory === failingMemory
      ? Promise.reject(new Error('Out of memory.'))
      : systemKeyDerivation.argon2(algorithm, message, cost);
  service = await startAuthService({ keyDerivation: { ...systemKeyDerivation, argon2 } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  failingMemory = 0;
  client = await service.makeClient();
});

const login = (username: string, password: string, from = client, more = {}) =>
  service.logIn(from, { username, password }, more);
const setHash = (email: string, passwordHash: string) =>
  updateItem(service.database.dynamo, { table: 'Credentials', key: { email } }, { set: { passwordHash } });
const read = async (TableName: string, Key: Item) =>
  (await service.database.dynamo(new GetCommand({ TableName, Key }))).Item;
const rejection = { status: 400, json: { error: 'invalid_grant' } };

it('A login computes no hash if the client secret is wrong, the password is too long or the client may not use the scope.', async () => {
  const limited = await service.makeClient({ scopes: ['webhooks:read'] });
  const { username, password } = await service.makeUser();
  service.hashes.length = 0;
  expect((await login(username, password, { ...client, secret: 'wrong' })).status).toBe(401);
  expect((await login(username, 'x'.repeat(1_025))).status).toBe(400);
  expect((await login(username, password, limited, { scope: 'webhooks:manage' })).status).toBe(400);
  expect(service.hashes).toEqual([]);
});

it('Only the audit trail distinguishes a disabled user from an unknown one.', async () => {
  const { user, username, password } = await service.makeUser();
  await service.users.setUserStatus(user.userId, 'disabled');
  const disabled = await login(username, password);
  expect(service.logs.at(-1)).toContain('user_disabled');
  expect(await login('nobody@example.com', 'wrong')).toEqual(disabled);
  expect(service.logs.at(-1)).toContain('user_unknown');
});

it('A login replaces a hash with outdated parameters and does not end sessions.', async () => {
  const { user, username, password } = await service.makeUser();
  const first = await login(username, password);
  await setHash(user.email, '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc');
  failingMemory = 19_456;
  expect(await login(username, 'password')).toMatchObject({ status: 200 }); // regression: this login returned 500 after its session was stored
  failingMemory = 0;
  expect(await login(username, 'password')).toMatchObject({ status: 200 });
  expect(await read('Credentials', { email: user.email })).toMatchObject({
    passwordHash: expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
  });
  expect(await login(username, 'password')).toMatchObject({ status: 200 });
  expect((await service.refresh(client, first.json.refresh_token)).status).toBe(200);
});

it.each([
  ['scrypt', '$scrypt$ln=16,r=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$TA0eRhsZfa6oMyWjNZFuu6L2A3YQzjX2Q5z+0dktuPE'],
  ['Django', 'pbkdf2_sha256$1000$seasalt2017AB$/sp3zqGuGlnUmKGZ7H9+D+bTE44VxMrHfPKpQoGXZLg='],
  ['an unknown system', '$2x$10$eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'],
])('A login treats any password as wrong if the imported hash has the format of %s.', async (_case, text) => {
  const { user, username } = await service.makeUser();
  await setHash(user.email, `imported${text}`);
  for (let time = 0; time < 5; time++) expect(await login(username, 'the password of Go')).toMatchObject(rejection);
  expect(service.logs.filter(line => line.includes('password.unverifiable')).at(-1)).toContain(user.userId);
  expect(service.logs.join()).not.toContain(text);
  await login(username, 'the password of Go');
  expect(service.logs.at(-1)).toContain('user_locked');
});

it('A login does not store or log the password, the client secret or a token.', async () => {
  const { user, username, password } = await service.makeUser();
  const { json } = await login(username, password);
  const session = await read('Sessions', { userId: user.userId, sessionId: json.refresh_token.split('.')[0] });
  expect(session).toMatchObject({ clientId: client.id });
  const stored = `${JSON.stringify(session)} ${service.logs.join()}`;
  for (const hidden of [password, username, client.secret, json.access_token, json.refresh_token])
    expect(stored).not.toContain(hidden);
});

it('Only a correct password outside a lock returns invalid_scope, and it clears the failures.', async () => {
  const { username, password } = await service.makeUser({ role: 'member' });
  const logInWithScope = (guess: string) => login(username, guess, client, { scope: 'webhooks:read' });
  for (let time = 0; time < 4; time++) expect(await logInWithScope('wrong')).toMatchObject(rejection);
  expect(await logInWithScope(password)).toMatchObject({ status: 400, json: { error: 'invalid_scope' } });
  for (let time = 0; time < 5; time++) await logInWithScope('wrong');
  expect(await logInWithScope(password)).toMatchObject(rejection);
});
