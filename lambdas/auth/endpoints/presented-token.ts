import { readRecords } from '../../platform/aws/batch-get.ts';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { HttpRequest } from '../../platform/http.ts';
import { readFormRequest } from '../form-request.ts';
import type { MakeOAuthError } from '../oauth-error.ts';
import type { Client } from '../principals/client.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { FormCase } from '../routes.ts';
import type { AccessTokenClaims, VerificationOptions, VerifyAccessToken } from '../sessions/access-token.ts';
import type { PresentedRefreshToken, VerifyRefreshToken } from '../sessions/refresh-token.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { clientCredentials } from './client-credentials.ts';

/** An authenticated client and the content of the token that it presents. An invalid token has neither `refreshToken` nor `claims`. */
export interface PresentedToken {
  /** The authenticated client. The token may belong to another client. */
  readonly client: Client;
  readonly refreshToken: PresentedRefreshToken | undefined;
  readonly claims: AccessTokenClaims | undefined;
}

export type ReadPresentedToken = ReturnType<typeof makePresentedTokenReader>;

/**
 * Creates the function that reads the token in a revocation or introspection request (RFC 7009 section 2.1, RFC 7662 section 2.1).
 * It ignores `token_type_hint`, because the format of a token identifies its type.
 */
export function makePresentedTokenReader({
  dynamo,
  clientAuthentication,
  verifyRefreshToken,
  verifyAccessToken,
}: {
  readonly dynamo: Dynamo;
  readonly clientAuthentication: ClientAuthentication;
  readonly verifyRefreshToken: VerifyRefreshToken;
  readonly verifyAccessToken: VerifyAccessToken;
}) {
  /** @throws {OAuthError} */
  return async function readPresentedToken(
    request: HttpRequest,
    auditContext: AuditContext,
    makeError: MakeOAuthError<FormCase | 'token_missing'>,
    options: VerificationOptions = {},
  ): Promise<PresentedToken> {
    const parameters = readFormRequest(request, makeError);
    const credentials = clientCredentials(request.headers.authorization, parameters);
    const records = await readRecords(dynamo, clientAuthentication.keysToRead(credentials));
    const client = clientAuthentication.authenticate(credentials, records, auditContext, makeError);
    const token = parameters.get('token');
    if (token === undefined) throw makeError('token_missing');
    const refreshToken = await verifyRefreshToken(token);
    const claims = refreshToken ? undefined : await verifyAccessToken(token, options);
    return { client, refreshToken, claims };
  };
}
