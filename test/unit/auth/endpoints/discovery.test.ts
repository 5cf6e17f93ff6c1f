import { createPublicKey } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { composeDiscovery } from '../../../../lambdas/auth/endpoints/discovery.composition.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import { authEnvironment, startAuthService } from '../../../support/auth-service.ts';
import { httpRequest } from '../../../support/http-request.ts';

// Tests the server metadata (RFC 8414) and the published keys (RFC 7517).

const { issuer } = authEnvironment;
const service = await startAuthService();
afterAll(() => service.stop());

const send = async (path: string, method = 'GET', dynamo: Dynamo = service.database.dynamo) => {
  const runtime = { ...service.runtime, dynamo };
  const discover = composeDiscovery(authEnvironment, runtime, service.telemetry);
  const { statusCode, headers, body = '' } = await discover(httpRequest({ path, method }));
  return { status: statusCode, headers, text: body, json: body === '' ? undefined : JSON.parse(body) };
};
const documents = ['/.well-known/jwks.json', '/.well-known/oauth-authorization-server'];

describe('Discovery', () => {
  it('returns the server metadata.', async () => {
    const { status, headers, json } = await send('/.well-known/oauth-authorization-server');
    expect(status).toBe(200);
    expect(headers).toEqual({ 'content-type': 'application/json', 'cache-control': 'public, max-age=300' });
    expect(json).toMatchObject({
      issuer,
      token_endpoint: `${issuer}/oauth/v1/token`,
      revocation_endpoint: `${issuer}/oauth/v1/revoke`,
      introspection_endpoint: `${issuer}/oauth/v1/introspect`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      grant_types_supported: ['password', 'refresh_token'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    });
  });

  it('publishes the current and the next public key for access tokens.', async () => {
    const client = await service.makeClient();
    const { json: tokens } = await service.logIn(client, await service.makeUser());
    service.clock.advance(89 * 86_400_000);
    await service.rotation.rotateKeys();

    const { headers, json } = await send('/.well-known/jwks.json');
    expect(headers).toMatchObject({ 'cache-control': 'public, max-age=300' });
    expect(json.keys).toHaveLength(2);
    for (const key of json.keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
      expect(key).toMatchObject({ alg: 'ES256', use: 'sig' });
      createPublicKey({ key, format: 'jwk' });
    }
    const currentDate = new Date(service.clock.now() - 89 * 86_400_000);
    const verified = await jwtVerify(tokens.access_token, createLocalJWKSet(json), { currentDate, issuer });
    expect(verified.payload.client_id).toBe(client.id);
  });

  it.each(documents)('accepts only GET and HEAD at %s.', async path => {
    const { status, text } = await send(path, 'HEAD');
    expect({ status, text }).toEqual({ status: 200, text: (await send(path)).text }); // the gateway computes Content-Length from it
    const headers = { allow: 'GET, HEAD' };
    expect(await send(path, 'POST')).toMatchObject({ status: 405, json: { error: 'invalid_request' }, headers });
  });

  it.each(['/', '/oauth/v1/token/', '/oauth/v2/token', '/.well-known/openid-configuration', '/constructor'])(
    'returns 404 at %s.',
    async path => {
      expect(await send(path, 'POST')).toMatchObject({ status: 404, json: { error: 'invalid_request' } });
    },
  );

  it.each([
    ['ThrottlingException', 503, 'temporarily_unavailable'],
    ['TimeoutError', 503, 'temporarily_unavailable'],
    ['Error', 500, 'server_error'],
  ])('converts the store error %s to a response with status %i.', async (name, status, error) => {
    const dynamo: Dynamo = () => Promise.reject(Object.assign(new Error('inside'), { name }));
    const response = await send('/.well-known/jwks.json', 'GET', dynamo);
    expect(response).toMatchObject({ status, json: { error } });
    expect(response.text).not.toContain('inside');
  });
});
