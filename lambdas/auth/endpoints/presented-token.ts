import { readRecords } from '../../platform/batch-get.ts';
import type { HttpRequest } from '../../platform/http.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import type { RevokeEnvironmentValues } from '../environment.ts';
import { readFormRequest } from '../form-request.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Client } from '../principals/client.ts';
import type { AuditContext } from '../protection/audit.ts';
import {
  type AccessTokenClaims,
  makeAccessTokenVerification,
  type VerificationOptions,
} from '../sessions/access-token.ts';
import { makeRefreshTokenVerification, type PresentedRefreshToken } from '../sessions/refresh-token.ts';
import { makeClientAuthentication } from './client-authentication.ts';
import { clientCredentials } from './client-credentials.ts';
import type { EndpointDependencies } from './oauth-endpoint.ts';

/** A token that an authenticated client presents: of one kind or the other, or neither where it is none of ours. */
export interface PresentedToken {
  /** Who presents it; not necessarily the client it was issued to. */
  readonly client: Client;
  readonly refreshToken: PresentedRefreshToken | undefined;
  readonly claims: AccessTokenClaims | undefined;
}

/**
 * Makes the steps that revocation and introspection share (RFC 7009 section 2.1, RFC 7662 section 2.1).
 * `token_type_hint` is not needed: the two kinds of token cannot be mistaken for each other.
 */
export function makePresentedTokenReader(
  { environment, dynamo, kms, now }: EndpointDependencies<RevokeEnvironmentValues>,
  options: VerificationOptions = {},
) {
  const keyring = makeKeyring({ dynamo, kms, table: environment.KEYRING_TABLE, now });
  const clientAuthentication = makeClientAuthentication({ environment, dynamo, now });
  const verifyRefreshToken = makeRefreshTokenVerification(keyring);
  const verifyAccessToken = makeAccessTokenVerification({
    keyring,
    issuer: environment.ISSUER,
    audience: environment.AUDIENCE,
    now,
  });

  /** @throws {OAuthError} */
  return async function readPresentedToken(request: HttpRequest, auditContext: AuditContext): Promise<PresentedToken> {
    const parameters = readFormRequest(request);
    const credentials = clientCredentials(request.headers.authorization, parameters);
    const records = await readRecords(dynamo, clientAuthentication.keysToRead(credentials, auditContext));
    const client = await clientAuthentication.authenticate(credentials, records, auditContext);
    const token = parameters.get('token');
    if (token === undefined) throw new OAuthError('token_missing');
    const refreshToken = await verifyRefreshToken(token);
    const claims = refreshToken ? undefined : await verifyAccessToken(token, options);
    return { client, refreshToken, claims };
  };
}
