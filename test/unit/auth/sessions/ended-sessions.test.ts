import { afterAll, beforeEach, expect, it } from 'vitest';
import { updateItem } from '../../../../lambdas/platform/aws/update-item.ts';
import { type AuthService, type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';

// Tests which changes end a session and all its tokens (docs/en/tokens.md). The world tests check the commands that end a session.

let client: ClientCredentials;
let user: Awaited<ReturnType<AuthService['makeUser']>>;
const service = await startAuthService();
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.makeClient();
  user = await service.makeUser();
});

const login = () => service.logIn(client, user);
const refresh = (token: string) => service.refresh(client, token);
const bearer = async (token: string) => (await service.authenticate(`Bearer ${token}`)).outcome;
const rejection = { status: 400, json: { error: 'invalid_grant' } };
const setStatus = (status: 'enabled' | 'disabled') => service.users.setUserStatus(user.user.userId, status);
const bindClient = (accountId: string | null) => service.clients.updateClient(client.id, { accountId });
const setAccount = (table: string, key: Record<string, string>) =>
  updateItem(service.database.dynamo, { table, key }, { set: { accountId: 'another' } });

it.each<[string, ...(() => Promise<unknown>)[]]>([
  ['its user is disabled and enabled again', () => setStatus('disabled'), () => setStatus('enabled')],
  ['its client is bound to the account of the user and unbound', () => bindClient('acme'), () => bindClient(null)],
  ['its user moves to another account', () => setAccount('Users', { userId: user.user.userId })],
  ['its client is bound to another account', () => setAccount('Clients', { clientId: client.id })],
])('A session ends permanently when %s.', async (_, ...changes) => {
  const { json } = await login();
  for (const change of changes) {
    await change();
    service.clock.advance(1);
  }
  expect(await refresh(json.refresh_token)).toMatchObject(rejection);
  expect(await bearer(json.access_token)).toBe('invalid');
});

it.each([
  ['the role changes', () => service.users.setUserRole(user.user.userId, 'member')],
  ['the e-mail address changes', () => service.users.setUserEmail(user.user.userId, `moved-${user.username}`)],
  ['the client’s scopes change', () => service.clients.updateClient(client.id, { scopes: ['webhooks:read'] })],
  ['the client’s secret is replaced', () => service.clients.rotateClientSecret(client.id)],
  ['the client is renamed', () => service.clients.updateClient(client.id, { name: 'New' })],
] as const)('A session continues when %s.', async (_, change) => {
  const { json } = await login();
  expect(await change()).toBeDefined();
  expect(await bearer(json.access_token)).toBe('authenticated');
  expect(await refresh(json.refresh_token)).toMatchObject({ status: 200 });
});

it('A new user with the e-mail address of a deleted user does not restore any session.', async () => {
  const { json } = await login();
  const disabled = await service.users.setUserStatus(user.user.userId, 'disabled');
  if (disabled) await service.users.deleteUser(disabled);
  expect(await login()).toMatchObject(rejection);
  await service.users.createUser({ email: user.username, password: user.password, accountId: 'acme', role: 'admin' });
  expect(await login()).toMatchObject({ status: 200 });
  expect(await refresh(json.refresh_token)).toMatchObject(rejection);
  expect(await bearer(json.access_token)).toBe('invalid');
});
