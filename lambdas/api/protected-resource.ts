import type * as z from 'zod/mini';
import type { protectedResourceMetadata } from '../auth/answers.ts';
import { scopes } from '../auth/principals/scope.ts';
import { calledUrl, type OwnUrls } from '../platform/own-urls.ts';
import { jsonResponse, type PublicHandler } from './route.ts';
import { apiRoutes } from './routes.ts';

/** Returns the URL of the protected resource metadata of {base_url} (RFC 9728 section 3). */
export function resourceMetadataUrl(baseUrl: string): string {
  return `${baseUrl}${apiRoutes.ProtectedResource.path}`;
}

/**
 * Makes the function that answers with that metadata, which names the issuer of tokens for {base_url} (RFC 9728 section 2). While the
 * stage changes its domain, each host's metadata name that host, and the issuer that changes with it.
 */
export function makeProtectedResource({
  audiences,
  authorizationServers,
}: {
  readonly audiences: OwnUrls;
  /** The issuer for each of them. */
  readonly authorizationServers: OwnUrls;
}): PublicHandler {
  return function protectedResource(request) {
    const resource = calledUrl(request, audiences);
    const document: z.output<typeof protectedResourceMetadata> = {
      resource,
      authorization_servers: [authorizationServers[audiences.indexOf(resource)] ?? authorizationServers[0]],
      scopes_supported: [...scopes],
      bearer_methods_supported: ['header'],
    };
    return jsonResponse<typeof protectedResourceMetadata>(200, document, { 'cache-control': 'public, max-age=3600' });
  };
}
