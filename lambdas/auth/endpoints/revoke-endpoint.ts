import type { HttpRequest } from '../../platform/http.ts';
import type { Revocation } from '../answers.ts';
import type { RevokeEnvironmentValues } from '../environment.ts';
import { OAuthError } from '../oauth-error.ts';
import type { AuditContext } from '../protection/audit.ts';
import { makeSessionStore } from '../sessions/session-store.ts';
import { type EndpointDependencies, makeOAuthEndpoint } from './oauth-endpoint.ts';
import { makePresentedTokenReader } from './presented-token.ts';

/**
 * Makes the token revocation endpoint (RFC 7009). A refresh token, of any generation, or an access token ends its
 * session, and with it every token of that session; an expired access token does so as long as the key that signed it is
 * there. A token that is none of ours counts as revoked (section 2.2).
 */
export function makeRevokeEndpoint(dependencies: EndpointDependencies<RevokeEnvironmentValues>) {
  const { environment, dynamo, log, count, now } = dependencies;
  const readPresentedToken = makePresentedTokenReader(dependencies, { mayBeExpired: true });
  const sessions = makeSessionStore({ dynamo, table: environment.SESSIONS_TABLE });
  return makeOAuthEndpoint({ endpoint: 'revoke', log, count, answer: revokeToken });

  async function revokeToken(request: HttpRequest, auditContext: AuditContext): Promise<Revocation> {
    const { client, refreshToken, claims } = await readPresentedToken(request, auditContext);
    if (claims && claims.client_id !== client.clientId) throw new OAuthError('token_of_another_client');
    const sessionId = refreshToken?.sessionId ?? claims?.sid;
    const session = sessionId === undefined ? undefined : await sessions.findSession(sessionId);
    if (!session) {
      auditContext.reason = 'token_unknown';
      return {};
    }
    auditContext.sessionId = session.sessionId;
    auditContext.userId = session.userId;
    if (session.clientId !== client.clientId) throw new OAuthError('token_of_another_client');
    await sessions.revokeSession(session.sessionId, 'revocation', now());
    return {};
  }
}
