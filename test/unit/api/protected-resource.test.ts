import { expect, it } from 'vitest';
import { makeProtectedResource } from '../../../lambdas/api/protected-resource.ts';
import type { OwnUrls } from '../../../lambdas/platform/own-urls.ts';
import { httpRequest } from '../../support/http-request.ts';

const gateway = { auth: 'https://a1.example.com', base: 'https://b1.example.com' };
const own = { auth: 'https://auth.example.com', base: 'https://base.example.com' };

it.each<
  [
    string,
    { authorizationServers: OwnUrls; audiences: OwnUrls },
    string | undefined,
    { resource: string; issuer: string },
  ]
>([
  [
    'one host for all',
    { authorizationServers: [own.auth], audiences: [own.base] },
    undefined,
    { resource: own.base, issuer: own.auth },
  ],
  [
    'the host that names the stage',
    { authorizationServers: [own.auth, gateway.auth], audiences: [own.base, gateway.base] },
    'base.example.com',
    { resource: own.base, issuer: own.auth },
  ],
  [
    'the former host, with its issuer',
    { authorizationServers: [own.auth, gateway.auth], audiences: [own.base, gateway.base] },
    'b1.example.com',
    { resource: gateway.base, issuer: gateway.auth },
  ],
  [
    'the former host, where the issuer stays',
    { authorizationServers: [own.auth, own.auth], audiences: [own.base, gateway.base] },
    'b1.example.com',
    { resource: gateway.base, issuer: own.auth },
  ],
])('the metadata of {base_url} name %s (RFC 9728 3.3)', (_, urls, host, { resource, issuer }) => {
  const request = httpRequest({ headers: host === undefined ? {} : { host } });
  const { statusCode, body } = makeProtectedResource(urls)(request);
  expect(statusCode).toBe(200);
  expect(JSON.parse(body ?? '')).toMatchObject({ resource, authorization_servers: [issuer] });
});
