import { createPublicKey } from 'node:crypto';
import { isUnavailable } from '../../platform/dynamo.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http.ts';
import type { Keyring, KeyringKey } from '../../platform/keyring.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { OAuthError } from '../oauth-error.ts';
import { grantTypes } from '../principals/client.ts';
import { scopes } from '../principals/scope.ts';
import { errorResponse } from './oauth-response.ts';

/** What discovery stands on; the keyring only lists signing keys. */
export interface DiscoveryDependencies {
  readonly keyring: Pick<Keyring, 'list'>;
  /** {auth_url} */
  readonly issuer: string;
  readonly log: Log;
}

/**
 * Answers the two dynamo of {auth_url}, and everything there that has no route of its own: 404 for unknown paths,
 * 405 for other methods.
 */
export function makeDiscovery({ keyring, issuer, log }: DiscoveryDependencies) {
  /** All signing keys, also the next and the retiring ones (RFC 7517 section 5). */
  const keySet = async (): Promise<object> => ({ keys: (await keyring.list('signing')).flatMap(publicJwk) });

  const dynamo = new Map<string, () => Promise<object>>([
    ['/.well-known/oauth-authorization-server', async () => metadata(issuer)],
    ['/.well-known/jwks.json', keySet],
  ]);

  const answer = async (request: HttpRequest): Promise<HttpResponse> => {
    const document = dynamo.get(request.rawPath);
    if (!document) throw new OAuthError('no_such_path');
    const { method } = request.requestContext.http;
    if (method !== 'GET' && method !== 'HEAD') throw new OAuthError('method_not_get');
    const body = JSON.stringify(await document());
    const headers = { 'content-type': 'application/json', 'cache-control': cachedFor };
    return { statusCode: 200, headers, body }; // the gateway keeps the body of a HEAD back, but not its length
  };

  return async function discovery(request: HttpRequest): Promise<HttpResponse> {
    try {
      return await answer(request);
    } catch (error) {
      if (error instanceof OAuthError) return errorResponse(error);
      const isBusy = isUnavailable(error);
      log.error(isBusy ? 'dependency.unavailable' : 'request.failed', describeError(error));
      return errorResponse(
        isBusy ? new OAuthError('dependency_unavailable', { retryAfterSeconds: 1 }) : new OAuthError('unforeseen'),
      );
    }
  };
}

/** A signing key's public half as a JWK (RFC 7517 section 4). */
function publicJwk({ keyId, algorithm, publicKey }: KeyringKey): object[] {
  return publicKey
    ? [
        {
          ...createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }).export({ format: 'jwk' }),
          kid: keyId,
          alg: algorithm,
          use: 'sig',
        },
      ]
    : [];
}

/** Authorization server metadata (RFC 8414 section 2); there is no authorization endpoint, hence no response type. */
function metadata(issuer: string): object {
  return {
    issuer,
    token_endpoint: `${issuer}/oauth/v1/token`,
    token_endpoint_auth_methods_supported: clientAuthentication,
    revocation_endpoint: `${issuer}/oauth/v1/revoke`,
    revocation_endpoint_auth_methods_supported: clientAuthentication,
    introspection_endpoint: `${issuer}/oauth/v1/introspect`,
    introspection_endpoint_auth_methods_supported: clientAuthentication,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: scopes,
    grant_types_supported: grantTypes,
    response_types_supported: [],
  };
}

/** Well below the day a key is published before its first use. */
const cachedFor = 'public, max-age=300';

const clientAuthentication = ['client_secret_basic', 'client_secret_post'];
