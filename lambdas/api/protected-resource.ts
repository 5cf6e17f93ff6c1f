import { scopes } from '../auth/principals/scope.ts';
import { answer, type Resource } from './route.ts';

/** Where the document about {base_url} as a protected resource is (RFC 9728 section 3). */
export function resourceMetadataUrl(baseUrl: string): string {
  return `${baseUrl}${path}`;
}

/** The document itself, which anybody may read: where tokens for {base_url} come from (RFC 9728 section 2). */
export function makeProtectedResource({ audience, issuer }: { audience: string; issuer: string }): Resource {
  const document = {
    resource: audience,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  };
  const response = answer(200, document, { 'cache-control': 'public, max-age=3600' });
  return { path, methods: { GET: { needs: 'nothing', respond: () => response } } };
}

const path = '/.well-known/oauth-protected-resource';
