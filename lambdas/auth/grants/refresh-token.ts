import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { Parameters } from '../form-request.ts';
import { refreshIdleSeconds } from '../lifetimes.ts';
import type { MakeOAuthError, OAuthError } from '../oauth-error.ts';
import type { Client } from '../principals/client.ts';
import { commonScopes, type Scope, scopesAllowed, storedScope } from '../principals/scope.ts';
import { parseUser, type User, userKey } from '../principals/user.ts';
import { reuseReason } from '../protection/audit.ts';
import type { TokenResponse } from '../responses.ts';
import { type SessionTables, sessionEndReason } from '../sessions/active-session.ts';
import type { PresentedRefreshToken, VerifyRefreshToken } from '../sessions/refresh-token.ts';
import { isExpired, parseSession, type Session, sessionKey } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import {
  type Grant,
  type GrantRequest,
  type MakeGrantError,
  type PreparedGrant,
  rejectForeignScopes,
  requestedScope,
  requireParameter,
} from './grant.ts';
import type { PrepareTokens } from './prepare-tokens.ts';

/** Creates the refresh grant (RFC 6749 section 6) with token rotation and reuse detection (RFC 9700 section 4.14.2). */
export function makeRefreshTokenGrant({
  tables,
  sessions,
  verifyRefreshToken,
  prepareTokens,
  now,
  makeId,
}: {
  readonly tables: Pick<SessionTables, 'users' | 'sessions'>;
  readonly sessions: Pick<SessionStore, 'rotateSession' | 'findSession' | 'revokeSession'>;
  readonly verifyRefreshToken: VerifyRefreshToken;
  readonly prepareTokens: PrepareTokens;
  readonly now: Clock;
  readonly makeId: MakeId;
}): Grant {
  return { prepare };

  async function prepare(parameters: Parameters, makeError: MakeGrantError): Promise<PreparedGrant> {
    const startedAt = now(); // the token must be usable at this time, regardless of later delays
    const presented = requireParameter(parameters, 'refresh_token', refreshTokenRule, makeError);
    const requestedScopes = requestedScope(parameters, makeError);
    const token = await verifyRefreshToken(presented);
    return {
      keysToRead: {
        user: token && userKey(tables.users, token.userId),
        session: token && sessionKey(tables.sessions, token.sessionId),
      },
      issue: request => refresh(token, requestedScopes, startedAt, request),
    };
  }

  async function refresh(
    token: PresentedRefreshToken | undefined,
    requestedScopes: ReadonlySet<Scope> | undefined,
    startedAt: number,
    request: GrantRequest,
  ): Promise<TokenResponse> {
    const { client, records, auditContext, makeError } = request;
    rejectForeignScopes(requestedScopes, client, makeError);
    if (!token) throw tokenError('refresh_token_forged', makeError);
    auditContext.sessionId = token.sessionId;
    auditContext.userId = token.userId;
    // This check precedes reuse detection. Otherwise, a client could end sessions of other clients.
    const session = requireSessionOf(client, parseSession(records.session), makeError);
    const state = await requireUsable(token, session, startedAt, request);
    const user = requireUserOf(session, client, parseUser(records.user), makeError);
    const scopes = scopesToGrant(requestedScopes, session, user, request);
    const end = state === 'previous' ? session.idleExpiresAt : idleEndOf(session);
    const remainingSeconds = Math.max(Math.ceil((end - now()) / 1_000), 1);
    const tokens = await prepareTokens({ client, session, remainingSeconds, scopes });
    if (state === 'previous') return tokens.write(session);
    return tokens.write(await rotate(token, session, tokens.keyId, startedAt, request));
  }

  /**
   * Returns the state of a usable token. Revokes the session of a reused token, because reuse means that the token was copied.
   *
   * @throws {OAuthError} if the token is not usable.
   */
  async function requireUsable(
    token: PresentedRefreshToken,
    session: Session,
    startedAt: number,
    { client, auditContext, makeError }: GrantRequest,
  ): Promise<'current' | 'previous'> {
    const state = tokenState(token, session, client, startedAt);
    if (state === 'previous') auditContext.reason = 'grace';
    if (state === 'current' || state === 'previous') return state;
    if (state === reuseReason) await sessions.revokeSession(session.sessionId, 'reuse', now());
    throw tokenError(state, makeError);
  }

  /** Rotates the session's refresh token. Returns the session after the rotation by this request or a concurrent one. */
  async function rotate(
    token: PresentedRefreshToken,
    session: Session,
    keyId: string,
    startedAt: number,
    request: GrantRequest,
  ): Promise<Session> {
    const rotatedSession = await sessions.rotateSession(session, {
      rotationId: makeId(22),
      keyId,
      rotatedAt: now(),
      idleExpiresAt: idleEndOf(session),
    });
    if (rotatedSession) return rotatedSession;
    const latestSession = await sessions.findSession(token.sessionId);
    if (!latestSession) throw tokenError('refresh_token_unknown', request.makeError);
    await requireUsable(token, latestSession, startedAt, request); // never returns `current`, because counters only increase
    return latestSession;
  }

  /** Returns the time at which a session expires if it is not used again. */
  function idleEndOf({ absoluteExpiresAt }: Session): number {
    return Math.min(now() + refreshIdleSeconds * 1_000, absoluteExpiresAt);
  }
}

export const refreshTokenRule = {
  missing: 'refresh_token_missing',
  tooLong: 'refresh_token_too_long',
  maxBytes: 512,
} as const;

type MakeTokenError = MakeOAuthError<'refresh_token_rejected'>;

/** Returns the same error for all reasons (RFC 6749 section 5.2). Only the audit trail contains the reason. */
function tokenError(reason: string, makeError: MakeTokenError): OAuthError {
  return makeError('refresh_token_rejected', { reason });
}

function requireSessionOf(client: Client, session: Session | undefined, makeError: MakeTokenError): Session {
  if (!session) throw tokenError('refresh_token_unknown', makeError);
  if (session.clientId !== client.clientId) throw tokenError('refresh_token_of_another_client', makeError);
  return session;
}

/** Returns the state of a presented token in its session, or the reason for its rejection. */
function tokenState(token: PresentedRefreshToken, session: Session, client: Client, now: number): TokenState {
  if (session.revokedAt !== undefined) return 'session_revoked';
  if (isExpired(session, now)) return 'session_expired';
  if (token.counter === session.counter && token.keyId === session.keyId) return 'current';
  if (token.counter >= session.counter) return 'refresh_token_unknown';
  const isPrevious = token.counter === session.counter - 1;
  const isInGrace = client.graceSeconds > 0 && now - session.rotatedAt < client.graceSeconds * 1_000;
  return isPrevious && isInGrace ? 'previous' : reuseReason;
}

type TokenState =
  | 'current'
  /** The previous token, which a concurrent request or a retry presents within the grace period. */
  | 'previous'
  | 'session_revoked'
  | 'session_expired'
  | 'refresh_token_unknown'
  | typeof reuseReason;

function requireUserOf(session: Session, client: Client, user: User | undefined, makeError: MakeTokenError): User {
  if (!user) throw tokenError('user_gone', makeError);
  const reason = sessionEndReason(client, user, session);
  if (reason !== undefined) throw tokenError(reason, makeError);
  return user;
}

/**
 * Returns the session's scopes that the role and the client still have, limited to the requested scopes, if any (RFC 6749 section 6).
 *
 * @throws {OAuthError}
 */
function scopesToGrant(
  requestedScopes: ReadonlySet<Scope> | undefined,
  session: Session,
  user: User,
  { client, makeError }: GrantRequest,
): ReadonlySet<Scope> {
  const originalScopes = storedScope(session.scope);
  if (requestedScopes && [...requestedScopes].some(scope => !originalScopes.has(scope))) throw makeError('scope_wider');
  const scopes = commonScopes(requestedScopes ?? originalScopes, scopesAllowed(client, user));
  if (requestedScopes && scopes.size === 0) throw makeError('scope_of_no_role');
  return scopes;
}
