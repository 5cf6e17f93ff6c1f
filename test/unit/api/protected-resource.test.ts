import { expect, it } from 'vitest';
import { makeProtectedResource } from '../../../lambdas/api/protected-resource.ts';
import type { OwnUrls } from '../../../lambdas/platform/own-urls.ts';
import { httpRequest } from '../../support/http-request.ts';

const [auth, base] = ['https://auth.example.com', 'https://base.example.com'] as const;
const [formerAuth, formerBase] = ['https://a1.example.com', 'https://b1.example.com'] as const;

it.each<[string, servers: OwnUrls, audiences: OwnUrls, host: string | undefined, resource: string, issuer: string]>([
  ['one host for all', [auth], [base], undefined, base, auth],
  ['the host that names the stage', [auth, formerAuth], [base, formerBase], 'base.example.com', base, auth],
  [
    'the former host, with its issuer',
    [auth, formerAuth],
    [base, formerBase],
    'b1.example.com',
    formerBase,
    formerAuth,
  ],
  ['the former host, where the issuer stays', [auth, auth], [base, formerBase], 'b1.example.com', formerBase, auth],
])(
  'the metadata of {base_url} name %s (RFC 9728 3.3)',
  (_, authorizationServers, audiences, host, resource, issuer) => {
    const request = httpRequest({ headers: host === undefined ? {} : { host } });
    const { statusCode, body } = makeProtectedResource({ authorizationServers, audiences })(request);
    expect(statusCode).toBe(200);
    expect(JSON.parse(body ?? '')).toMatchObject({ resource, authorization_servers: [issuer] });
  },
);
