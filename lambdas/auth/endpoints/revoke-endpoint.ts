import type { Clock } from '../../platform/clock.ts';
import { OAuthError } from '../oauth-error.ts';
import type { AccessTokenClaims, VerificationOptions } from '../sessions/access-token.ts';
import type { PresentedRefreshToken } from '../sessions/refresh-token.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { AuthenticatedForm } from './authenticated-form.ts';
import type { Answer } from './oauth-endpoint.ts';

/** What revocation stands on. */
export interface RevokeEndpointDependencies {
  readonly readForm: (...request: Parameters<Answer>) => Promise<AuthenticatedForm>;
  readonly verifyAccessToken: (token: string, options: VerificationOptions) => Promise<AccessTokenClaims | undefined>;
  readonly verifyRefreshToken: (token: string) => Promise<PresentedRefreshToken | undefined>;
  readonly sessions: Pick<SessionStore, 'findSession' | 'revokeSession'>;
  readonly now: Clock;
}

/**
 * Token revocation (RFC 7009): a refresh token, of any generation, or an access token ends its session, and with it
 * everything that was issued from that login; an expired access token too, as long as the key that signed it is there.
 * What is no token of ours is as good as revoked. `token_type_hint` is not needed: the two kinds cannot be mistaken for
 * each other.
 */
export function makeRevokeEndpoint(dependencies: RevokeEndpointDependencies): Answer {
  const { readForm, verifyAccessToken, verifyRefreshToken, sessions, now } = dependencies;

  return async function revokeEndpoint(request, auditContext) {
    const { client, parameters } = await readForm(request, auditContext);
    const token = parameters.get('token');
    if (token === undefined) throw new OAuthError('token_missing');
    const refreshToken = await verifyRefreshToken(token);
    const claims = refreshToken ? undefined : await verifyAccessToken(token, { mayBeExpired: true });
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
  };
}
