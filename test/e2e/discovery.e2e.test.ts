import { describe, expect, it } from 'vitest';
import { authUrl, baseUrl } from '../support/e2e-target.ts';

describe('/.well-known/oauth-protected-resource of {base_url} (RFC 9728)', () => {
  const url = `${baseUrl}/.well-known/oauth-protected-resource`;

  it('tells anybody where tokens come from, and may be kept for an hour', async () => {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(await response.json()).toEqual({
      resource: baseUrl,
      authorization_servers: [authUrl],
      scopes_supported: ['webhooks:read', 'webhooks:manage'],
      bearer_methods_supported: ['header'],
    });
  });

  it('is named by every 401 (section 5.1), and takes nothing but GET and HEAD', async () => {
    const refused = await fetch(`${baseUrl}/v1/webhooks`);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${url}"`);
    const posted = await fetch(url, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  });
});

describe('a document at {auth_url}', () => {
  it.each(['/.well-known/jwks.json', '/.well-known/oauth-authorization-server'])(
    '%s: HEAD is answered as GET (RFC 9110 section 9.3.2), and POST with 405 and Allow (section 15.5.6)',
    async path => {
      const ask = (method: string) => fetch(`${authUrl}${path}`, { method });
      const [head, get, post] = [await ask('HEAD'), await ask('GET'), await ask('POST')];
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect(await post.json()).toMatchObject({ error: 'invalid_request' });
    },
  );
});

describe('everything else at {auth_url}', () => {
  it.each(['token', 'revoke', 'introspect'])('HEAD of %s, which takes POST alone: 405', async name => {
    const response = await fetch(`${authUrl}/oauth/v1/${name}`, { method: 'HEAD' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it.each(['/', '/oauth/v1/token/more'])('%s: 404 invalid_request', async path => {
    const response = await fetch(`${authUrl}${path}`, { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: 'invalid_request', error_description: expect.any(String) });
  });
});
