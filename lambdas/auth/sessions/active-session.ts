import { readRecords } from '../../platform/aws/batch-get.ts';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Client, clientKey, parseClient } from '../principals/client.ts';
import { commonScopes, type Scope, scopesAllowed, storedScope } from '../principals/scope.ts';
import { parseUser, type User, userKey } from '../principals/user.ts';
import type { AccessTokenClaims } from './access-token.ts';
import { isExpired, parseSession, type Session, sessionKey } from './session.ts';

/** An active session, with its client and user. */
export interface ActiveSession {
  readonly client: Client;
  readonly user: User;
  readonly session: Session;
}

/** An active session with the scopes of one of its access tokens. */
export interface AuthorizedSession extends ActiveSession {
  /** The token's scopes that the role and the client still have. */
  readonly scopes: ReadonlySet<Scope>;
}

export interface SessionTables {
  readonly clients: string;
  readonly users: string;
  readonly sessions: string;
}

/** The reason why a change to a user or client ended a session. It appears in the audit trail and in lists of sessions. */
export type SessionEndReason = 'user_disabled' | 'session_ended' | 'account_changed' | 'account_of_another_client';

/**
 * Returns the reason why the client and the user may not continue a session, or `undefined` if they may. Versions only increase, so
 * enabling a user or client again does not restore its sessions.
 */
export function sessionEndReason(client: Client, user: User, session: Session): SessionEndReason | undefined {
  if (user.status !== 'enabled') return 'user_disabled';
  if (user.version !== session.userVersion || client.version !== session.clientVersion) return 'session_ended';
  if (user.accountId !== session.accountId) return 'account_changed';
  if (client.accountId !== undefined && client.accountId !== user.accountId) return 'account_of_another_client';
  return undefined;
}

/**
 * Returns the session if it is active. The client and the user must be enabled and match the session, their versions must be unchanged
 * since its start, and it must be neither revoked nor expired.
 */
export function toActiveSession(
  client: Client | undefined,
  user: User | undefined,
  session: Session | undefined,
  now: number,
): ActiveSession | undefined {
  if (client?.status !== 'enabled' || !user || !session) return undefined;
  if (session.revokedAt !== undefined || isExpired(session, now)) return undefined;
  if (session.clientId !== client.clientId || session.userId !== user.userId) return undefined;
  return sessionEndReason(client, user, session) === undefined ? { client, user, session } : undefined;
}

export type ReadActiveSession = ReturnType<typeof makeActiveSessionReader>;

export interface ActiveSessionDependencies {
  readonly dynamo: Dynamo;
  readonly tables: SessionTables;
  readonly now: Clock;
}

/**
 * Creates the function that reads the active session of an access token. It makes one strongly consistent read without a cache, so
 * revocations take effect immediately.
 */
export function makeActiveSessionReader({ dynamo, tables, now }: ActiveSessionDependencies) {
  return async function readActiveSession(claims: AccessTokenClaims): Promise<AuthorizedSession | undefined> {
    const { client, user, session } = await readRecords(dynamo, {
      client: clientKey(tables.clients, claims.client_id),
      user: userKey(tables.users, claims.sub),
      session: sessionKey(tables.sessions, claims.sid),
    });
    const active = toActiveSession(parseClient(client), parseUser(user), parseSession(session), now());
    if (!active || claims.account_id !== active.session.accountId) return undefined;
    const scopes = commonScopes(storedScope(claims.scope ?? ''), scopesAllowed(active.client, active.user));
    return { ...active, scopes };
  };
}
