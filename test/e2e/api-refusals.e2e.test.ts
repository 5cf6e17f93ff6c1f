import { beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../tools/support/accounts.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { describeApiRefusals, type World } from '../support/api-refusals.ts';
import { createClient, createUser, getTokens, logIn } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';
import { callApi, expectProblem, openSession, publicHost, type Session } from '../support/e2e-webhooks.ts';
import { registrationFindings } from '../support/registration-refusals.ts';

// Unit tests describe the same in process.

describeApiRefusals({
  makeWorld,
  send: async (method, path, request) => {
    const { status, headers, text } = await callApi(method, path, request);
    return { status, headers: Object.fromEntries(headers), text };
  },
});

async function makeWorld(): Promise<World> {
  const [client, limited, admin, member, host] = await Promise.all([
    createClient(),
    createClient(),
    createUser(),
    createUser({ role: 'member' }),
    publicHost(),
  ]);
  const narrow = (of: Client, scope: string) => getTokens({ ...passwordGrant(of, admin), scope });
  const [every, read, manage, none, membership] = await Promise.all([
    logIn(client, admin),
    narrow(client, 'webhooks:read'),
    narrow(client, 'webhooks:manage'),
    narrow(limited, 'webhooks:read'),
    logIn(client, member),
  ]);
  await ops(['clients', 'update', limited.clientId, '--scope', 'webhooks:manage']); // what its token has is no longer allowed
  return {
    tokens: {
      admin: every.access_token,
      reader: read.access_token,
      manager: manage.access_token,
      unscoped: none.access_token,
      member: membership.access_token,
    },
    url: `https://${host}/hook`,
  };
}

describe('an admin', () => {
  let admin: Session;
  let url: string;
  beforeAll(async () => {
    admin = await openSession(await createClient());
    url = `https://${await publicHost()}/hook`;
  });

  it.each([
    ['an altered signature', swapSignature],
    ['alg none (RFC 8725 section 3.1)', unsigned],
  ])('has no token with %s', async (_title, change) => {
    expectProblem(await callApi('GET', '/v1/webhooks', { token: change(admin.token) }), 401, 'invalid_token');
  });

  it.each(registrationFindings)('registers nothing with %j, and is told every finding', async (changes, findings) => {
    const body = { evento: 'demanda.cancelada', url, ...changes };
    const answer = await callApi('POST', '/v1/webhooks', { token: admin.token, body });
    expectProblem(answer, 422, 'validation_failed');
    const errors = answer.json?.errors as { pointer: string; code: string; detail: string }[];
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual(findings);
    for (const error of errors) expect(Object.keys(error).sort()).toEqual(['code', 'detail', 'pointer']);
  });

  it('may not name the event in the body of a replacement: the path names it', async () => {
    const body = { evento: 'demanda.criada', url };
    const answer = await callApi('PUT', '/v1/webhooks/demanda.criada', { token: admin.token, body });
    expectProblem(answer, 422, 'validation_failed');
    expect(answer.json?.errors).toMatchObject([{ pointer: '/evento' }]);
  });

  it('is told the language of refusals alone', async () => {
    const answer = await callApi('GET', '/v1/webhooks', { token: admin.token, headers: { 'accept-language': 'pt' } });
    expect([answer.status, answer.headers.get('content-language')]).toEqual([200, null]);
  });

  it('finds nothing at a path that is none, with or without a token', async () => {
    expectProblem(await callApi('GET', '/v1/nothing', { token: admin.token }), 404, 'not_found');
    expectProblem(await callApi('GET', '/'), 404, 'not_found');
  });
});

function swapSignature(token: string): string {
  const [header, payload, signature = ''] = token.split('.');
  return [header, payload, `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`].join('.');
}

function unsigned(token: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
  return `${header}.${token.split('.')[1]}.`;
}
