import { expect, it } from 'vitest';
import { makeProtectedResource } from '../../../lambdas/api/protected-resource.ts';
import { httpRequest } from '../../support/http-request.ts';

it('the metadata of {base_url} contain its URL and the issuer of its tokens (RFC 9728 section 3.2)', () => {
  const [issuer, audience] = ['https://auth.example.com', 'https://base.example.com'];
  const { statusCode, body } = makeProtectedResource({ issuer, audience })(httpRequest({}));
  expect(statusCode).toBe(200);
  expect(JSON.parse(body ?? '')).toMatchObject({ resource: audience, authorization_servers: [issuer] });
});
