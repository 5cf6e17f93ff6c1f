import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readRecords } from '../../platform/batch-get.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Client, clientKey, parseClient } from '../principals/client.ts';
import { commonScopes, type Scope, scopesAllowed, storedScope } from '../principals/scope.ts';
import { parseUser, type User, userKey } from '../principals/user.ts';
import type { AccessTokenClaims } from './access-token.ts';
import { isExpired, parseSession, type Session, sessionKey } from './session.ts';

/** Client, user and session of a session that is alive at this moment. */
export interface ActiveSession {
  readonly client: Client;
  readonly user: User;
  readonly session: Session;
}

/** A live session together with what one of its access tokens may do. */
export interface AuthorizedSession extends ActiveSession {
  /** The token's own scopes as far as role and client have them today. */
  readonly scopes: ReadonlySet<Scope>;
}

/** The tables a session is told from. */
export interface SessionTables {
  readonly clients: string;
  readonly users: string;
  readonly sessions: string;
}

/**
 * Why client and user may not go on with a session; `undefined` when nothing speaks against it. For the audit trail.
 * What was ended stays so: enabling again does not bring a version back.
 */
export function sessionFault(client: Client, user: User | undefined, session: Session): string | undefined {
  if (!user) return 'user_gone';
  if (user.status !== 'enabled') return 'user_disabled';
  if (user.version !== session.userVersion || client.version !== session.clientVersion) return 'session_ended';
  if (user.accountId !== session.accountId) return 'account_changed';
  if (client.accountId !== undefined && client.accountId !== user.accountId) return 'account_of_another_client';
  return undefined;
}

/**
 * The session these three make, if it is alive: client enabled, session neither revoked nor expired, user enabled and of
 * the same account, and both under the versions the session began with.
 */
export function activeSession(
  client: Client | undefined,
  user: User | undefined,
  session: Session | undefined,
  now: number,
): ActiveSession | undefined {
  if (client?.status !== 'enabled' || !user || !session) return undefined;
  if (session.revokedAt !== undefined || isExpired(session, now)) return undefined;
  if (session.clientId !== client.clientId || session.userId !== user.userId) return undefined;
  return sessionFault(client, user, session) ? undefined : { client, user, session };
}

/** What reading a session stands on. */
export interface ActiveSessionDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tables: SessionTables;
  readonly now: Clock;
}

/**
 * Finds the live session behind an access token's claims. Read consistently, in one round trip, and never cached, so
 * that whoever is out is out at once.
 */
export function makeSessionReading({ dynamo, tables, now }: ActiveSessionDependencies) {
  return async function sessionReading(claims: AccessTokenClaims): Promise<AuthorizedSession | undefined> {
    const records = await readRecords(dynamo, {
      client: clientKey(tables.clients, claims.client_id),
      user: userKey(tables.users, claims.sub),
      session: sessionKey(tables.sessions, claims.sid),
    });
    const { client, user, session } = records;
    const active = activeSession(parseClient(client), parseUser(user), parseSession(session), now());
    if (!active || claims.account_id !== active.session.accountId) return undefined;
    const scopes = commonScopes(storedScope(claims.scope ?? ''), scopesAllowed(active.client, active.user));
    return { ...active, scopes };
  };
}
