import { beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../tools/support/accounts.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, postToken } from '../support/e2e-accounts.ts';
import { authUrl } from '../support/e2e-target.ts';

let client: Client;
beforeAll(async () => {
  client = await createClient();
});

const json = { 'content-type': 'application/json' };

describe.each(['revoke', 'introspect'])('POST /oauth/v1/%s', endpoint => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const basic = (text: string) => ({ ...form, authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  const own = () => `client_id=${client.clientId}&client_secret=${client.clientSecret}`;
  const ownBasic = () => basic(`${client.clientId}:${client.clientSecret}`);
  const send = async (headers: Record<string, string>, body: string, query = '') => {
    const content = new TextEncoder().encode(body); // fetch would add a content type of its own to a string
    const response = await fetch(`${authUrl}/oauth/v1/${endpoint}${query}`, { method: 'POST', headers, body: content });
    const { error } = (await response.json()) as { error?: string };
    return [response.status, error];
  };

  it.each<[title: string, status: number, error: string, () => Parameters<typeof send>]>([
    ['JSON', 400, 'invalid_request', () => [json, '{}']],
    ['a large form', 413, 'invalid_request', () => [form, `token=${'x'.repeat(17_000)}`]],
    ['what cannot be decoded', 400, 'invalid_request', () => [form, 'token=%']],
    ['a parameter twice', 400, 'invalid_request', () => [form, 'token=1&token=2']],
    ['secrets in the query', 400, 'invalid_request', () => [form, own(), '?client_secret=1']],
    ['no client', 401, 'invalid_client', () => [form, 'token=1']],
    ['a client in two ways', 400, 'invalid_request', () => [ownBasic(), own()]],
    ['two clients', 400, 'invalid_request', () => [ownBasic(), 'client_id=another']],
    ['malformed Basic', 400, 'invalid_request', () => [{ ...form, authorization: 'Basic !' }, 'token=1']],
    ['another scheme', 401, 'invalid_client', () => [{ ...form, authorization: 'Bearer 1' }, own()]],
    ['a wrong secret', 401, 'invalid_client', () => [basic(`${client.clientId}:wrong`), 'token=1']],
    ['no token', 400, 'invalid_request', () => [form, own()]],
  ])('refuses %s', async (_title, status, error, request) => {
    expect(await send(...request())).toEqual([status, error]);
  });
});

it('refuses a scope that the client may not have', async () => {
  const limited = await createClient('--grant', 'password', '--scope', 'webhooks:read');
  const response = await postToken({ ...passwordGrant(limited, await createUser()), scope: 'webhooks:manage' });
  expect(response.status).toBe(400);
  expect(response.json).toMatchObject({ error: 'invalid_scope' });
});
