import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { sessionKey } from '../../../../lambdas/auth/sessions/session.ts';
import { updateItem } from '../../../../lambdas/platform/aws/update-item.ts';
import { type AuthService, type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';

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
const introspect = async (token: string) =>
  (await service.post('introspect', { client_id: client.id, client_secret: client.secret, token })).json;
const bearer = async (token: string) => (await service.authenticate(`Bearer ${token}`)).outcome;

/** Each ends the session, then reverts the change as far as possible. */
const ends: readonly (readonly [string, () => Promise<unknown>])[] = [
  [
    'its user was disabled and enabled',
    async () => {
      await service.users.setUserStatus(user.user.userId, 'disabled');
      await service.users.setUserStatus(user.user.userId, 'enabled');
    },
  ],
  [
    'its client was disabled and enabled',
    async () => {
      await service.clients.setClientStatus(client.id, 'disabled');
      await service.clients.setClientStatus(client.id, 'enabled');
    },
  ],
  ['the same password was set again', () => service.users.setUserPassword(user.user.userId, user.password)],
  ['all of the user’s sessions were ended', () => service.users.endUserSessions(user.user.userId)],
  ['all of the client’s sessions were ended', () => service.clients.endClientSessions(client.id)],
  [
    'its client was bound to the user’s account and unbound',
    async () => {
      await service.clients.updateClient(client.id, { accountId: 'acme' });
      service.clock.advance(1);
      await service.clients.updateClient(client.id, { accountId: null });
    },
  ],
  ['it was not used for its idle life', () => end('idleExpiresAt')],
  ['its absolute life was over', () => end('absoluteExpiresAt')],
];

/** Moves an end of the user's session to this moment. */
async function end(name: 'idleExpiresAt' | 'absoluteExpiresAt') {
  const { sessions } = await service.sessionList.listSessions({ userId: user.user.userId }, 1);
  const key = sessionKey('Sessions', sessions[0]?.sessionId ?? '');
  await updateItem(service.database.dynamo, key, { set: { [name]: service.clock.now() } });
}

describe('a session has ended for good, with all its tokens, when', () => {
  it.each(ends)('%s', async (_, end) => {
    const first = await login();
    const second = await refresh(first.json.refresh_token);
    await end();
    for (const token of [first.json.refresh_token, second.json.refresh_token]) {
      // the first token is in its grace period
      expect(await refresh(token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
      expect(await introspect(token)).toEqual({ active: false });
    }
    expect(await introspect(second.json.access_token)).toEqual({ active: false });
    expect(await bearer(second.json.access_token)).toBe('invalid');
    expect(await login()).toMatchObject({ status: 200 });
  });
});

describe('a session stays active, with all its tokens, when', () => {
  it.each([
    ['the role changes', () => service.users.setUserRole(user.user.userId, 'member')],
    ['the e-mail address changes', () => service.users.setUserEmail(user.user.userId, `moved-${user.username}`)],
    ['the client’s scopes change', () => service.clients.updateClient(client.id, { scopes: ['webhooks:read'] })],
    ['the client’s secret is replaced', () => service.clients.rotateClientSecret(client.id)],
    ['the client is renamed', () => service.clients.updateClient(client.id, { name: 'New' })],
  ] as const)('%s', async (_, change) => {
    const first = await login();
    expect(await change()).toBeDefined();
    expect(await bearer(first.json.access_token)).toBe('authenticated');
    expect(await refresh(first.json.refresh_token)).toMatchObject({ status: 200 });
  });
});

describe('a deleted user', () => {
  it('has no session, and a new user with the same e-mail address revives none', async () => {
    const first = await login();
    const disabled = await service.users.setUserStatus(user.user.userId, 'disabled');
    if (disabled) await service.users.deleteUser(disabled);
    expect(await refresh(first.json.refresh_token)).toMatchObject({ status: 400 });
    expect(await bearer(first.json.access_token)).toBe('invalid');
    expect(await login()).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    const { username: email, password } = user;
    await service.users.createUser({ email, password, accountId: 'acme', role: 'admin' });
    expect(await login()).toMatchObject({ status: 200 });
    expect(await refresh(first.json.refresh_token)).toMatchObject({ status: 400 });
    expect(await bearer(first.json.access_token)).toBe('invalid');
  });
});

describe('a user', () => {
  it('cannot log in with an e-mail address that they no longer have', async () => {
    await service.users.setUserEmail(user.user.userId, `other-${user.user.email}`);
    expect(await login()).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });
});

describe('a session has ended when', () => {
  it.each([
    ['its user was moved to another account', 'Users', 'userId'],
    ['its client was bound to another account', 'Clients', 'clientId'],
  ] as const)('%s', async (_, TableName, key) => {
    const { json } = await login();
    await service.database.dynamo(
      new UpdateCommand({
        TableName,
        Key: { [key]: key === 'userId' ? user.user.userId : client.id },
        UpdateExpression: 'SET accountId = :other',
        ExpressionAttributeValues: { ':other': 'another' },
      }),
    );
    expect(await introspect(json.access_token)).toEqual({ active: false });
    expect(await refresh(json.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });
});

describe('lists of sessions', () => {
  const listAll = async (owner: { userId: string } | { clientId: string }, limit: number): Promise<string[]> => {
    const ids: string[] = [];
    let after: string | undefined;
    do {
      const page = await service.sessionList.listSessions(owner, limit, after);
      expect(page.sessions.length).toBeLessThanOrEqual(limit);
      ids.push(...page.sessions.map(({ sessionId }) => sessionId));
      after = page.next;
    } while (after !== undefined);
    return ids;
  };

  it.each([1, 2, 100])('give each session once, of a user and of a client, %i a page', async limit => {
    const other = await service.makeUser();
    const answers = [await login(), await login(), await login()];
    user = other;
    answers.push(await login());
    const ids = answers.map(({ json }) => json.refresh_token.split('.')[0] as string);
    expect((await listAll({ clientId: client.id }, limit)).toSorted()).toEqual(ids.toSorted());
    expect(await listAll({ userId: other.user.userId }, limit)).toEqual([ids[3]]);
    expect(await listAll({ userId: 'nobody' }, limit)).toEqual([]);
    expect(await listAll({ userId: '' }, limit)).toEqual([]);
  });

  it('are read by queries, never by a scan', async () => {
    service.database.operations.length = 0;
    await listAll({ userId: user.user.userId }, 100);
    await listAll({ clientId: client.id }, 100);
    expect(service.database.operations).not.toContain('ScanCommand');
  });

  it('are empty after all of a user were deleted', async () => {
    for (let time = 0; time < 3; time++) await login();
    await service.sessionList.deleteSessions(user.user.userId);
    expect(await listAll({ userId: user.user.userId }, 100)).toEqual([]);
  });
});
