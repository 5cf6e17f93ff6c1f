import { createPublicKey } from 'node:crypto';
import type { HttpRequest, HttpResponse } from '../../platform/http.ts';
import type { Keyring, KeyringKey } from '../../platform/keyring.ts';
import type { Log } from '../../platform/telemetry.ts';
import { OAuthError } from '../oauth-error.ts';
import { grantTypes } from '../principals/client.ts';
import { scopes } from '../principals/scope.ts';
import type { KeySet, ServerMetadata } from '../responses.ts';
import { authRoutes, pathCases } from '../routes.ts';
import { errorResponse, toOAuthError } from './oauth-response.ts';

/** Creates the endpoint for the metadata and public keys of {auth_url}. It returns 404 for unknown paths and 405 for other methods. */
export function makeDiscovery({
  keyring,
  issuer,
  log,
}: {
  /** Must be able to list signing keys. */
  readonly keyring: Pick<Keyring, 'list'>;
  /** {auth_url}. */
  readonly issuer: string;
  readonly log: Log;
}) {
  const documents = new Map<string, () => Promise<object>>([
    [authRoutes.Metadata.path, async () => metadata(issuer)],
    [authRoutes.Jwks.path, keySet],
  ]);

  return async function discovery(request: HttpRequest): Promise<HttpResponse> {
    try {
      return await respond(request);
    } catch (error) {
      return errorResponse(toOAuthError(error, log));
    }
  };

  async function respond(request: HttpRequest): Promise<HttpResponse> {
    const document = documents.get(request.rawPath);
    if (!document) throw makeError('not_found');
    const { method } = request.requestContext.http;
    if (method !== 'GET' && method !== 'HEAD') throw makeError('method_not_get');
    const body = JSON.stringify(await document());
    const headers = { 'content-type': 'application/json', 'cache-control': cacheControl };
    return { statusCode: 200, headers, body }; // for HEAD, the gateway drops the body but preserves Content-Length
  }

  /** Returns all signing keys, including next and retiring ones, as a JWK Set (RFC 7517 section 5). */
  async function keySet(): Promise<KeySet> {
    return { keys: (await keyring.list('signing')).flatMap(publicJwk) };
  }
}

const makeError = OAuthError.from(pathCases);

/** Returns the public key as the only JWK of a list (RFC 7517 section 4), or an empty list if the key has no public key. */
function publicJwk({ keyId, algorithm, publicKey }: KeyringKey): KeySet['keys'] {
  if (!publicKey) return [];
  const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
  const jwk = { ...key.export({ format: 'jwk' }), kid: keyId, alg: algorithm, use: 'sig' };
  return [jwk as KeySet['keys'][number]]; // Node's type combines the members of all key types
}

/** Returns the authorization server metadata (RFC 8414 section 2). Without an authorization endpoint, there are no response types. */
function metadata(issuer: string): ServerMetadata {
  return {
    issuer,
    token_endpoint: `${issuer}${authRoutes.Token.path}`,
    token_endpoint_auth_methods_supported: clientAuthentication,
    revocation_endpoint: `${issuer}${authRoutes.Revoke.path}`,
    revocation_endpoint_auth_methods_supported: clientAuthentication,
    introspection_endpoint: `${issuer}${authRoutes.Introspect.path}`,
    introspection_endpoint_auth_methods_supported: clientAuthentication,
    jwks_uri: `${issuer}${authRoutes.Jwks.path}`,
    scopes_supported: [...scopes],
    grant_types_supported: [...grantTypes],
    response_types_supported: [],
  };
}

/** The cache lifetime of 5 minutes is much shorter than the day between a key's publication and its first use. */
const cacheControl = 'public, max-age=300';

const clientAuthentication: ServerMetadata['token_endpoint_auth_methods_supported'] = [
  'client_secret_basic',
  'client_secret_post',
];
