import type * as z from 'zod/mini';
import type { protectedResourceMetadata } from '../auth/answers.ts';
import { scopes } from '../auth/principals/scope.ts';
import { jsonResponse, type Resource } from './route.ts';

/** The URL of the protected resource metadata of {base_url} (RFC 9728 section 3). */
export function resourceMetadataUrl(baseUrl: string): string {
  return `${baseUrl}${path}`;
}

/** Makes the public endpoint of that metadata, which names the issuer of tokens for {base_url} (RFC 9728 section 2). */
export function makeProtectedResource({ audience, issuer }: { audience: string; issuer: string }): Resource {
  const document: z.output<typeof protectedResourceMetadata> = {
    resource: audience,
    authorization_servers: [issuer],
    scopes_supported: [...scopes],
    bearer_methods_supported: ['header'],
  };
  const headers = { 'cache-control': 'public, max-age=3600' };
  const response = jsonResponse<typeof protectedResourceMetadata>(200, document, headers);
  return { path, methods: { GET: { access: 'public', respond: () => response } } };
}

const path = '/.well-known/oauth-protected-resource';
