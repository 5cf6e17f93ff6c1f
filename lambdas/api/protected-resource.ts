import type * as z from 'zod/mini';
import { scopes } from '../auth/principals/scope.ts';
import type { protectedResourceMetadata } from '../auth/responses.ts';
import { jsonResponse, type PublicHandler } from './route.ts';
import { apiRoutes } from './routes.ts';

/** Returns the URL of the protected resource metadata of {base_url} (RFC 9728 section 3). */
export function resourceMetadataUrl(baseUrl: string): string {
  return `${baseUrl}${apiRoutes.ProtectedResource.path}`;
}

/** Creates the function that returns the protected resource metadata, with the issuer of tokens (RFC 9728 section 2). */
export function makeProtectedResource({
  issuer,
  audience,
}: {
  /** {auth_url}. */
  readonly issuer: string;
  /** {base_url}. */
  readonly audience: string;
}): PublicHandler {
  return function protectedResource() {
    const document: z.output<typeof protectedResourceMetadata> = {
      resource: audience,
      authorization_servers: [issuer],
      scopes_supported: [...scopes],
      bearer_methods_supported: ['header'],
    };
    return jsonResponse<typeof protectedResourceMetadata>(200, document, { 'cache-control': 'public, max-age=3600' });
  };
}
