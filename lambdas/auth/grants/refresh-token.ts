import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Client } from '../principals/client.ts';
import { commonScopes, type Scope, scopesAllowed, storedScope } from '../principals/scope.ts';
import { parseUser, type User, userKey } from '../principals/user.ts';
import type { UserTables } from '../principals/user-store.ts';
import { type AuditContext, reuseReason } from '../protection/audit.ts';
import { sessionFault } from '../sessions/active-session.ts';
import { makeRefreshTokenVerification, type PresentedRefreshToken } from '../sessions/refresh-token.ts';
import { isExpired, parseSession, type Session, sessionKey } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { type Grant, type GrantRequest, refuseForeignScopes, requestedScope, requireParameter } from './grant.ts';
import type { PrepareTokens, TokenResponse } from './token-issue.ts';

/** What the refresh grant stands on; the keyring must be able to open MAC keys. */
export interface RefreshTokenGrantDependencies {
  readonly userTables: Pick<UserTables, 'users'>;
  readonly sessionsTable: string;
  readonly sessions: Pick<SessionStore, 'rotateSession' | 'findSession' | 'revokeSession'>;
  readonly keyring: Pick<Keyring, 'find' | 'open'>;
  readonly prepareTokens: PrepareTokens;
  readonly refreshIdleSeconds: number;
  readonly now: Clock;
  readonly makeId: MakeId;
}

/** The refresh grant (RFC 6749 section 6) with rotation and reuse detection (RFC 9700 section 4.14.2). */
export function makeRefreshTokenGrant(dependencies: RefreshTokenGrantDependencies): Grant {
  const { userTables, sessionsTable, sessions, keyring, now, makeId } = dependencies;

  const readOwnToken = makeRefreshTokenVerification(keyring);

  const refuse = (reason: string): never => {
    throw new OAuthError('refresh_token_refused', { reason });
  };

  const rotate = (session: Session, rotationId: string, keyId: string): Promise<Session | undefined> => {
    const idleExpiresAt = now() + dependencies.refreshIdleSeconds * 1_000;
    return sessions.rotateSession(session, {
      rotationId,
      keyId,
      rotatedAt: now(),
      idleExpiresAt: Math.min(idleExpiresAt, session.absoluteExpiresAt),
    });
  };

  /** @throws {OAuthError} for a token that has no standing; one that was used twice ends its session. */
  const requireStanding = async (
    token: PresentedRefreshToken,
    client: Client,
    session: Session,
  ): Promise<'current' | 'previous'> => {
    const standing = standingOf(token, session, client, now());
    if (standing.is === 'refused') return refuse(standing.reason);
    if (standing.is !== 'reused') return standing.is;
    await sessions.revokeSession(session.sessionId, 'reuse', now());
    return refuse(reuseReason);
  };

  /** The session whose token is to be given: rotated by this request, or already by the one it lost to. */
  const succeed = async (
    token: PresentedRefreshToken,
    client: Client,
    session: Session,
    keyId: string,
    auditContext: AuditContext,
  ): Promise<Session> => {
    const rotationId = makeId(22);
    let latest: Session | undefined = session;
    for (let turn = 0; turn < turns && latest; turn++) {
      if ((await requireStanding(token, client, latest)) === 'previous') {
        auditContext.reason = 'grace';
        return latest;
      }
      const rotated = await rotate(latest, rotationId, keyId);
      if (rotated) return rotated;
      latest = await sessions.findSession(token.sessionId);
      if (latest?.rotationId === rotationId && latest.revokedAt === undefined) return latest; // done, but the answer got lost
    }
    return refuse('refresh_token_unknown');
  };

  const refresh = async (
    token: PresentedRefreshToken,
    requested: ReadonlySet<Scope> | undefined,
    { client, records, auditContext }: GrantRequest,
  ): Promise<TokenResponse> => {
    auditContext.sessionId = token.sessionId;
    auditContext.userId = token.userId;
    const session = parseSession(records.session);
    if (!session) return refuse('refresh_token_unknown');
    // before anything that ends the session: else any client could end the sessions of another
    if (session.clientId !== client.clientId) return refuse('refresh_token_of_another_client');
    await requireStanding(token, client, session);
    const user = parseUser(records.user);
    const fault = sessionFault(client, user, session);
    if (fault || !user) return refuse(fault ?? 'user_gone');
    const scopes = scopesToGrant(requested, session, client, user);
    const tokens = await dependencies.prepareTokens({ client, session, scopes });
    return tokens.write(await succeed(token, client, session, tokens.keyId, auditContext));
  };

  return {
    prepare: async parameters => {
      const presented = requireParameter(parameters, 'refresh_token', tokenRule);
      const requested = requestedScope(parameters);
      const token = await readOwnToken(presented);
      return {
        reads: {
          user: token && userKey(userTables.users, token.userId),
          session: token && sessionKey(sessionsTable, token.sessionId),
        },
        issue: async request => {
          refuseForeignScopes(requested, request.client);
          return token ? refresh(token, requested, request) : refuse('refresh_token_forged');
        },
      };
    },
  };
}

function standingOf(token: PresentedRefreshToken, session: Session, client: Client, now: number): Standing {
  if (session.revokedAt !== undefined) return { is: 'refused', reason: 'session_revoked' };
  if (isExpired(session, now)) return { is: 'refused', reason: 'session_expired' };
  if (token.counter === session.counter && token.keyId === session.keyId) return { is: 'current' };
  if (token.counter >= session.counter) return { is: 'refused', reason: 'refresh_token_unknown' };
  const isPrevious = token.counter === session.counter - 1;
  const isInGrace = client.graceSeconds > 0 && now - session.rotatedAt < client.graceSeconds * 1_000;
  return isPrevious && isInGrace ? { is: 'previous' } : { is: 'reused' };
}

/** A session changes hands at most this often between reading and rotating it before something is wrong. */
const turns = 5;

/** The session's scopes that role and client still have, or fewer where fewer are asked for (RFC 6749 section 6). */
function scopesToGrant(
  requested: ReadonlySet<Scope> | undefined,
  session: Session,
  client: Client,
  user: User,
): ReadonlySet<Scope> {
  const original = storedScope(session.scope);
  if (requested && [...requested].some(scope => !original.has(scope))) throw new OAuthError('scope_wider');
  const scopes = commonScopes(requested ?? original, scopesAllowed(client, user));
  if (requested && scopes.size === 0) throw new OAuthError('scope_of_no_role');
  return scopes;
}

const tokenRule = { missing: 'refresh_token_missing', tooLong: 'refresh_token_too_long', mostBytes: 512 } as const;

/** What a presented token is to its session at this moment. */
type Standing =
  | { readonly is: 'current' }
  /** The one before, inside the grace period: whoever presents it lost a race or a response. */
  | { readonly is: 'previous' }
  | { readonly is: 'reused' }
  | { readonly is: 'refused'; readonly reason: string };
