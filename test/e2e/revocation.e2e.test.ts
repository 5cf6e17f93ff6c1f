import { beforeAll, describe, expect, it } from 'vitest';
import type { Form } from '../../lambdas/smoke/service-client.ts';
import type { Client, User } from '../../tools/support/accounts.ts';
import { refreshGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, logIn, postForm, postToken } from '../support/e2e-accounts.ts';
import { callApi } from '../support/e2e-webhooks.ts';

let client: Client;
let otherClient: Client;
let introspector: Client;
let user: User;

beforeAll(async () => {
  const bothGrants = ['--grant', 'password', '--grant', 'refresh_token'];
  [client, otherClient, introspector, user] = await Promise.all([
    createClient(),
    createClient(),
    createClient(...bothGrants, '--introspect'),
    createUser(),
  ]);
});

const post = async (endpoint: 'revoke' | 'introspect', form: Form) => {
  const { status, json } = await postForm(endpoint, form);
  return { status, json };
};

const as = ({ clientId, clientSecret }: Client) => ({ client_id: clientId, client_secret: clientSecret });
const revoke = (who: Client, token: string) => post('revoke', { ...as(who), token });
const introspect = (who: Client, token: string) => post('introspect', { ...as(who), token });

describe('revocation (RFC 7009)', () => {
  it.each(['refresh_token', 'access_token'] as const)('of a %s ends the whole session', async kind => {
    const tokens = await logIn(client, user);
    expect((await revoke(client, tokens[kind])).status).toBe(200);
    expect((await postToken(refreshGrant(client, tokens.refresh_token))).status).toBe(400);
    expect((await callApi('GET', '/v1/webhooks', { token: tokens.access_token })).status).toBe(401);
  });

  it('takes tokens that it does not know (section 2.2)', async () => {
    expect((await revoke(client, 'unknown')).status).toBe(200);
  });

  it("refuses another client's token, which stays alive (section 2.1)", async () => {
    const { refresh_token } = await logIn(client, user);
    expect(await revoke(otherClient, refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect((await postToken(refreshGrant(client, refresh_token))).status).toBe(200);
  });

  it('wants to know the client (section 2.1)', async () => {
    const { refresh_token } = await logIn(client, user);
    const refused = await revoke({ ...client, clientSecret: 'wrong' }, refresh_token);
    expect(refused).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
  });
});

describe('introspection (RFC 7662)', () => {
  it('describes a live token to its client', async () => {
    const { access_token } = await logIn(client, user);
    expect(await introspect(client, access_token)).toMatchObject({
      status: 200,
      json: { active: true, client_id: client.clientId, sub: user.userId, scope: expect.stringContaining('webhooks') },
    });
  });

  it('tells other clients nothing, unless they may introspect', async () => {
    const { access_token } = await logIn(client, user);
    expect(await introspect(otherClient, access_token)).toEqual({ status: 200, json: { active: false } });
    expect((await introspect(introspector, access_token)).json).toMatchObject({ active: true });
  });

  it('sees at once that a token is revoked', async () => {
    const { access_token, refresh_token } = await logIn(client, user);
    await revoke(client, refresh_token);
    expect(await introspect(client, access_token)).toEqual({ status: 200, json: { active: false } });
  });

  it('wants to know the client (section 2.1)', async () => {
    const refused = await post('introspect', { token: 'x' });
    expect(refused).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
  });
});
