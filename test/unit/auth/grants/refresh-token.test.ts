import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AuthResponse, type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';

// Tests the refresh grant (RFC 6749 section 6, RFC 9700 section 4.14.2). The world tests check rotation, races, grace periods, reuse and
// ended sessions (lab/world/auth/invariants).

const day = 86_400_000;

let client: ClientCredentials;
const service = await startAuthService();
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.makeClient();
});

const login = async (from = client, more = {}) => service.logIn(from, await service.makeUser(), more);
const refresh = (token: string, from = client, more = {}) => service.refresh(from, token, more);
const claimsOf = ({ json }: AuthResponse) =>
  JSON.parse(Buffer.from(json.access_token.split('.')[1], 'base64url').toString());
const rejection = { status: 400, json: { error: 'invalid_grant' } };
/** Calls `act` before each matching operation. Returns a function that removes this hook. */
const onCall = (operation: RegExp, act: (input: object) => unknown) => {
  const { middlewareStack } = service.database.client;
  middlewareStack.add(
    (next, { commandName = '' }) =>
      async args => {
        if (operation.test(commandName)) act(args.input);
        return next(args);
      },
    { step: 'initialize', name: operation.source },
  );
  return () => void middlewareStack.remove(operation.source);
};
const wrongScope = { status: 400, json: { error: 'invalid_scope' } };

it.each(['ThrottlingException', 'KMSInternalException'])(
  'A request that cannot open a key because of %s does not invalidate the refresh token.',
  async fault => {
    const strict = await service.makeClient({ graceSeconds: 0 });
    service.clock.advance(90 * day);
    await service.rotation.rotateKeys();
    const first = await login(strict);
    service.clock.advance(2 * day); // no request has opened the new keys yet
    vi.spyOn(service.kms, 'send').mockRejectedValueOnce(Object.assign(new Error(), { name: fault }));
    expect((await refresh(first.json.refresh_token, strict)).status).toBeGreaterThanOrEqual(500);
    expect(await refresh(first.json.refresh_token, strict)).toMatchObject({ status: 200 });
  },
);

it('A request that arrives within the grace period succeeds even if the period ends during the request.', async () => {
  await login(); // the function reads the keys now, and again 30 s later
  service.clock.advance(1_000);
  const first = await login();
  const second = await refresh(first.json.refresh_token);
  service.clock.advance(29_999);
  const start = service.clock.now();
  let isRead = false;
  const stop = onCall(/^(?:BatchGetItem|Query)Command$/, input => {
    if ('RequestItems' in input) isRead = true;
    else if (isRead && service.clock.now() === start) service.clock.advance(30_000);
  });
  const again = await refresh(first.json.refresh_token);
  stop();
  expect(service.clock.now()).toBe(start + 30_000);
  expect(again.json.refresh_token).toBe(second.json.refresh_token);
});

it('A refresh token of another client is rejected, and its session continues.', async () => {
  const other = await service.makeClient();
  const first = await login();
  const second = await refresh(first.json.refresh_token);
  service.clock.advance(60_000); // if its own client presented the first token now, the session would end
  for (const { json } of [first, second]) expect(await refresh(json.refresh_token, other)).toMatchObject(rejection);
  expect(service.logs.at(-1)).toContain('refresh_token_of_another_client');
  expect(await refresh(second.json.refresh_token)).toMatchObject({ status: 200 });
});

it('All endpoints treat a refresh token with the MAC of another token as invalid, and its session continues.', async () => {
  const own: string = (await login()).json.refresh_token;
  const other: string = (await login()).json.refresh_token;
  const forged = [...own.split('.').slice(0, 3), other.split('.').at(-1)].join('.');
  expect(await refresh(forged)).toMatchObject(rejection);
  expect(service.logs.at(-1)).toContain('refresh_token_forged');
  const form = { client_id: client.id, client_secret: client.secret, token: forged };
  expect((await service.post('introspect', form)).json).toEqual({ active: false });
  expect((await service.post('revoke', form)).status).toBe(200);
  expect(await refresh(own)).toMatchObject({ status: 200 });
});

describe('A refresh token', () => {
  it('remains valid after a MAC key rotation and returns the same successor.', async () => {
    const first = await login();
    await service.rotation.rotateNow('mac');
    service.clock.advance(31_000); // the function's keyring is at most 30 s old
    const second = await refresh(first.json.refresh_token);
    expect(second.json.refresh_token.split('.')[2]).not.toBe(first.json.refresh_token.split('.')[2]);
    await service.rotation.rotateNow('mac');
    expect((await refresh(first.json.refresh_token)).json.refresh_token).toBe(second.json.refresh_token);
  });

  it('remains valid after the signing keys are revoked, but not after the MAC keys are revoked.', async () => {
    const { json } = await login();
    await service.rotation.rotateNow('signing', { revoke: true });
    service.clock.advance(31_000);
    const second = await refresh(json.refresh_token);
    expect(second.status).toBe(200);
    await service.rotation.rotateNow('mac', { revoke: true });
    service.clock.advance(31_000);
    expect(await refresh(second.json.refresh_token)).toMatchObject(rejection);
  });
});

describe('The lifetime', () => {
  it.each([
    ['may not refresh', 900, ['password']],
    ['may refresh', 14 * 86_400, ['password', 'refresh_token']],
  ] as const)('of an unused session of a client that %s is %i s.', async (_, seconds, grants) => {
    const user = await service.makeUser();
    const { json } = await service.logIn(await service.makeClient({ grants }), user);
    expect(json.expires_in).toBe(900);
    const { sessions } = await service.sessionList.listSessions({ userId: user.user.userId }, 1);
    expect(sessions).toMatchObject([{ idleExpiresAt: service.clock.now() + seconds * 1_000 }]);
  });

  it('of an idle refresh token is 14 days, to the millisecond.', async () => {
    const first = await login();
    service.clock.advance(14 * day - 1);
    const second = await refresh(first.json.refresh_token);
    expect(second.status).toBe(200);
    service.clock.advance(14 * day);
    expect(await refresh(second.json.refresh_token)).toMatchObject(rejection);
  });

  it('of a used session and its access tokens ends 90 days after the login.', async () => {
    const end = service.clock.now() + 90 * day;
    let response = await login();
    for (let used = 0; used < 8; used++) {
      service.clock.advance(11 * day);
      response = await refresh(response.json.refresh_token);
    }
    for (const remaining of [900_001, 600_000, 1]) {
      const seconds = Math.min(900, Math.ceil(remaining / 1_000));
      service.clock.set(end - remaining);
      response = await refresh(response.json.refresh_token);
      expect(response.json.expires_in).toBe(seconds);
      expect(claimsOf(response).exp - claimsOf(response).iat).toBe(seconds);
    }
    service.clock.set(end);
    expect(await refresh(response.json.refresh_token)).toMatchObject(rejection);
  });

  it('of an access token ends before that of its session, even if reading the keys is slow.', async () => {
    const once = await service.makeClient({ grants: ['password'] });
    const end = service.clock.now() + 900_000 + 31_000;
    const stopReads = onCall(/^BatchGetItem/, () => service.clock.advance(31_000)); // keys are read again
    const stopKeys = onCall(/^Query/, () => service.clock.advance(2_000));
    const response = await login(once);
    stopReads();
    stopKeys();
    const { sub } = claimsOf(response);
    const { sessions } = await service.sessionList.listSessions({ userId: sub }, 1);
    expect(end).toBeLessThan(sessions[0]?.absoluteExpiresAt ?? 0);
    expect(claimsOf(response).exp * 1_000).toBeLessThanOrEqual(sessions[0]?.absoluteExpiresAt ?? 0);
  });
});

describe('A refresh request (RFC 6749 section 6)', () => {
  it('may narrow the scope without changing the scope of the session.', async () => {
    const first = await login();
    const narrow = await refresh(first.json.refresh_token, client, { scope: 'webhooks:read' });
    expect([narrow.json.scope, claimsOf(narrow).scope]).toEqual(['webhooks:read', 'webhooks:read']);
    const wide = await refresh(narrow.json.refresh_token);
    expect(wide.json.scope).toBe('webhooks:read webhooks:manage');
  });

  it('returns only scopes that the role and the client still have, and fails for others without invalidating the token.', async () => {
    const changing = await service.makeClient();
    const user = await service.makeUser();
    const first = await service.logIn(changing, user);
    await service.clients.updateClient(changing.id, { scopes: ['webhooks:read'] });
    const narrow = await refresh(first.json.refresh_token, changing);
    expect(narrow.json.scope).toBe('webhooks:read');
    const refreshWith = (scope: string) => refresh(narrow.json.refresh_token, changing, { scope });
    expect(await refreshWith('webhooks:manage')).toMatchObject(wrongScope);
    await service.users.setUserRole(user.user.userId, 'member');
    expect(await refreshWith('webhooks:read')).toMatchObject(wrongScope);
    const none = await refresh(narrow.json.refresh_token, changing);
    expect([none.status, none.json.scope, claimsOf(none).scope]).toEqual([200, undefined, undefined]);
    expect(service.logs.at(-1)).not.toContain('grace');
  });

  it.each(['webhooks:read webhooks:manage', 'everything'])(
    'for the scope "%s" fails in a session for webhooks:read without invalidating the token.',
    async scope => {
      const first = await login(client, { scope: 'webhooks:read' });
      expect(await refresh(first.json.refresh_token, client, { scope })).toMatchObject(wrongScope);
      expect(await refresh(first.json.refresh_token)).toMatchObject({ status: 200, json: { scope: 'webhooks:read' } });
      expect(service.logs.at(-1)).not.toContain('grace');
    },
  );
});
