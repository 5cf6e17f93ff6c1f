import { readRecords } from '../../platform/aws/batch-get.ts';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Client, clientKey, parseClient } from '../principals/client.ts';
import { commonScopes, type Scope, scopesAllowed, storedScope } from '../principals/scope.ts';
import { parseUser, type User, userKey } from '../principals/user.ts';
import type { AccessTokenClaims } from './access-token.ts';
import { isExpired, parseSession, type Session, sessionKey } from './session.ts';

/** A session that is active at this moment, with its client and user. */
export interface ActiveSession {
  readonly client: Client;
  readonly user: User;
  readonly session: Session;
}

/** An active session with what one of its access tokens allows. */
export interface AuthorizedSession extends ActiveSession {
  /** The token's scopes as far as role and client still have them. */
  readonly scopes: ReadonlySet<Scope>;
}

export interface SessionTables {
  readonly clients: string;
  readonly users: string;
  readonly sessions: string;
}

/** The reason why a session is over for reasons of its user or client: a value for the audit trail and for operators. */
export type SessionEndReason = 'user_disabled' | 'session_ended' | 'account_changed' | 'account_of_another_client';

/**
 * The reason why client and user may not go on with a session; `undefined` when there is none. A version that has changed
 * never comes back: enabling a user or client again does not revive its sessions.
 */
export function sessionEndReason(client: Client, user: User, session: Session): SessionEndReason | undefined {
  if (user.status !== 'enabled') return 'user_disabled';
  if (user.version !== session.userVersion || client.version !== session.clientVersion) return 'session_ended';
  if (user.accountId !== session.accountId) return 'account_changed';
  if (client.accountId !== undefined && client.accountId !== user.accountId) return 'account_of_another_client';
  return undefined;
}

/**
 * The three as an active session, if they are one: client enabled, session neither revoked nor expired, user enabled and of
 * the same account, and both under the versions that the session began with.
 */
export function asActiveSession(
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
 * Makes the reader of the active session behind an access token. It reads consistently, in one round trip, and caches
 * nothing, so that a revocation holds at once.
 */
export function makeActiveSessionReader({ dynamo, tables, now }: ActiveSessionDependencies) {
  return async function readActiveSession(claims: AccessTokenClaims): Promise<AuthorizedSession | undefined> {
    const { client, user, session } = await readRecords(dynamo, {
      client: clientKey(tables.clients, claims.client_id),
      user: userKey(tables.users, claims.sub),
      session: sessionKey(tables.sessions, claims.sid),
    });
    const active = asActiveSession(parseClient(client), parseUser(user), parseSession(session), now());
    if (!active || claims.account_id !== active.session.accountId) return undefined;
    const scopes = commonScopes(storedScope(claims.scope ?? ''), scopesAllowed(active.client, active.user));
    return { ...active, scopes };
  };
}
