import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { ResourceOwnerPassword } from 'simple-oauth2';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { createClient, createUser } from '../support/e2e-service.ts';
import { authUrl, baseUrl, registerSecret } from '../support/e2e-target.ts';

// Client libraries send all requests. In a local run, {auth_url} uses plain HTTP, which strict libraries allow only with an option.

const isPlain = authUrl.startsWith('http:');

let client: Client;
let user: User;
beforeAll(async () => {
  [client, user] = await Promise.all([createClient(), createUser()]);
});

const credentials = () => ({ username: user.email, password: user.password });
const registerTokens = <Tokens extends { access_token: string; refresh_token?: string | undefined }>(
  tokens: Tokens,
): Tokens => {
  registerSecret(tokens.access_token);
  if (tokens.refresh_token !== undefined) registerSecret(tokens.refresh_token);
  return tokens;
};
const bothTokens = { access_token: expect.any(String), refresh_token: expect.any(String), expires_in: 900 };

// openid-client uses oauth4webapi, which checks each response and validates access tokens.
describe('openid-client', () => {
  const connect = (authenticate: openid.ClientAuth) =>
    openid.discovery(new URL(authUrl), client.clientId, undefined, authenticate, {
      algorithm: 'oauth2',
      execute: isPlain ? [openid.allowInsecureRequests] : [],
    });
  const methods = [
    ['the Basic header', openid.ClientSecretBasic],
    ['the body', openid.ClientSecretPost],
  ] as const;

  it.each(methods)('logs in, refreshes, introspects and revokes, with the secret in %s', async (_case, auth) => {
    const config = await connect(auth(client.clientSecret));
    const first = registerTokens(await openid.genericGrantRequest(config, 'password', credentials()));
    expect(first).toMatchObject(bothTokens);
    expect(first.expiresIn()).toBeGreaterThan(890);

    const second = registerTokens(await openid.refreshTokenGrant(config, first.refresh_token ?? ''));
    expect(second).toMatchObject(bothTokens);
    const narrow = { scope: 'webhooks:read' };
    const third = registerTokens(await openid.refreshTokenGrant(config, second.refresh_token ?? '', narrow));
    expect(third.scope).toBe('webhooks:read');

    const resource = new URL(`${baseUrl}/v1/webhooks`);
    const { status } = await openid.fetchProtectedResource(config, third.access_token, resource, 'GET');
    expect(status).toBe(200);
    const request = new Request(resource, { headers: { authorization: `Bearer ${third.access_token}` } });
    const insecure = { [oauth.allowInsecureRequests]: isPlain };
    const claims = await oauth.validateJwtAccessToken(config.serverMetadata(), request, baseUrl, insecure);
    expect(claims).toMatchObject({ sub: user.userId, client_id: client.clientId }); // RFC 9068 section 4
    expect(await openid.tokenIntrospection(config, third.access_token)).toMatchObject({ active: true });
    await openid.tokenRevocation(config, third.access_token);
    expect(await openid.tokenIntrospection(config, third.access_token)).toEqual({ active: false });
    await expect(openid.refreshTokenGrant(config, third.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it.each(methods)('reports error responses as its own errors, with the secret in %s', async (_case, auth) => {
    const logIn = async (secret: string, more: Record<string, string> = {}) =>
      openid.genericGrantRequest(await connect(auth(secret)), 'password', { ...credentials(), ...more });
    const response = { error: 'invalid_grant', status: 400, error_description: expect.any(String) };
    await expect(logIn(client.clientSecret, { password: 'wrong' })).rejects.toMatchObject(response);
    const widerLogin = logIn(client.clientSecret, { scope: 'everything' });
    await expect(widerLogin).rejects.toMatchObject({ error: 'invalid_scope' });
    await expect(logIn('wrong')).rejects.toMatchObject({
      name: 'WWWAuthenticateChallengeError',
      status: 401,
      cause: [{ scheme: 'basic', parameters: { realm: 'oauth', error: 'invalid_client' } }],
    });
  });
});

describe('simple-oauth2', () => {
  const connect = (authorizationMethod: string, options: object = {}) =>
    new ResourceOwnerPassword({
      client: { id: client.clientId, secret: client.clientSecret },
      auth: { tokenHost: authUrl, tokenPath: '/oauth/v1/token', revokePath: '/oauth/v1/revoke' },
      options: { authorizationMethod, ...options },
    });

  it.each([
    ['the Basic header, form-encoded', 'header', { credentialsEncodingMode: 'strict' }],
    ['the Basic header, not encoded', 'header', { credentialsEncodingMode: 'loose' }],
    ['the body', 'body', {}],
  ])('logs in, refreshes and revokes, with the secret in %s', async (_case, method, options) => {
    const first = await connect(method, options).getToken({ ...credentials(), scope: ['webhooks:read'] });
    registerTokens(first.token);
    expect(first.token).toMatchObject({ ...bothTokens, scope: 'webhooks:read' });
    expect(first.expired(890)).toBe(false);
    const second = await first.refresh();
    registerTokens(second.token);
    expect(second.token).toMatchObject(bothTokens);
    expect(second.token.refresh_token).not.toBe(first.token.refresh_token);
    await second.revokeAll();
    await expect(second.refresh()).rejects.toMatchObject({ data: { payload: { error: 'invalid_grant' } } });
  });
});
