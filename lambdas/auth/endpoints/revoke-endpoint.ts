import type { Clock } from '../../platform/clock.ts';
import type { HttpRequest } from '../../platform/http.ts';
import { type AuditContext, recordUser } from '../protection/audit.ts';
import type { Revocation } from '../responses.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { type EndpointParts, type MakeEndpointError, makeOAuthEndpoint } from './oauth-endpoint.ts';
import type { ReadPresentedToken } from './presented-token.ts';

/**
 * Creates the token revocation endpoint (RFC 7009). A request with any token of a session ends the session and revokes all its tokens.
 * Expired access tokens are accepted while their signing key exists. An unknown token is treated as revoked (section 2.2).
 */
export function makeRevokeEndpoint({ readPresentedToken, sessions, log, count, now }: RevokeEndpointParts) {
  return makeOAuthEndpoint({ endpoint: 'revoke', log, count, handle: revokeToken });

  async function revokeToken(
    request: HttpRequest,
    auditContext: AuditContext,
    makeError: MakeEndpointError<'revoke'>,
  ): Promise<Revocation> {
    const { client, refreshToken, claims } = await readPresentedToken(request, auditContext, makeError, {
      mayBeExpired: true,
    });
    if (claims && claims.client_id !== client.clientId) throw makeError('token_of_another_client');
    const sessionId = refreshToken?.sessionId ?? claims?.sid;
    const session = sessionId === undefined ? undefined : await sessions.findSession(sessionId);
    if (!session) {
      auditContext.reason = 'token_unknown';
      return {};
    }
    auditContext.sessionId = session.sessionId;
    recordUser(auditContext, session);
    if (session.clientId !== client.clientId) throw makeError('token_of_another_client');
    await sessions.revokeSession(session.sessionId, 'revocation', now());
    return {};
  }
}

interface RevokeEndpointParts extends EndpointParts {
  readonly readPresentedToken: ReadPresentedToken;
  readonly sessions: Pick<SessionStore, 'findSession' | 'revokeSession'>;
  readonly now: Clock;
}
