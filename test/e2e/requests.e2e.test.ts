import { expect, it } from 'vitest';
import { documents } from '../support/contract/document.ts';
import { callApi, expectProblem, postForm } from '../support/e2e-service.ts';
import { authUrl, baseUrl } from '../support/e2e-target.ts';

// These tests send requests through the gateway. test/unit/api/api-errors.test.ts tests each error response of the functions.

const metadata = `${baseUrl}/.well-known/oauth-protected-resource`;
const urls = [
  ...Object.keys(documents.auth.paths).map(path => authUrl + path),
  ...Object.keys(documents.base.paths).map(path => baseUrl + path.replace('{evento}', 'demanda.criada')),
].map(url => url.replace('{id}', 'id'));

// RFC 9110 sections 9.3.2 and 15.5.6, RFC 9728 section 5.1.
it.each(urls)('each method of %s reaches a function, and the path with a trailing slash returns 404', async url => {
  const patch = await fetch(url, { method: 'PATCH' });
  expect([patch.status, patch.headers.get('allow')]).toEqual([405, expect.stringMatching(/^(?:GET, HEAD|POST)/)]);
  const expected = url.includes('/.well-known/') ? 200 : url.startsWith(authUrl) ? 400 : 401;
  for (const method of patch.headers.get('allow')?.split(', ') ?? []) {
    const { status, headers } = await fetch(url, { method });
    expect([method, status]).toEqual([method, expected]);
    if (status === 401) expect(headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}"`);
  }
  expect((await fetch(`${url}/`, { method: 'POST' })).status).toBe(404);
});

it('{base_url} publishes the issuer of its tokens, with a cache lifetime of 1 hour (RFC 9728)', async () => {
  const response = await fetch(metadata);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
  expect(await response.json()).toEqual({
    resource: baseUrl,
    authorization_servers: [authUrl],
    scopes_supported: ['webhooks:read', 'webhooks:manage'],
    bearer_methods_supported: ['header'],
  });
});

it('every response of both hosts has a unique request id', async () => {
  const responses = [
    await callApi('GET', '/v1/webhooks'),
    await callApi('GET', '/v1/webhooks'),
    await callApi('GET', '/.well-known/oauth-protected-resource'),
    await postForm('token', {}),
  ];
  const ids = responses.map(({ headers }) => headers.get('apigw-requestid'));
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9+/_-]{15}=$/);
  expect(new Set(ids).size).toBe(responses.length);
});

it('the body of an error response contains the request id', async () => {
  const response = await callApi('GET', '/v1/webhooks');
  expectProblem(response, 401, 'token_missing');
  expect(response.json?.requisicao).toBe(response.headers.get('apigw-requestid'));
});
