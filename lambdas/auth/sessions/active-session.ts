import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { type Client, clientAddress, parseClient } from '../principals/client.ts';
import { commonScopes, type Scope, scopesAllowed, storedScope } from '../principals/scope.ts';
import { parseUser, type User, userAddress } from '../principals/user.ts';
import { readRecords } from '../records.ts';
import type { AccessTokenClaims } from './access-token.ts';
import { type Family, familyAddress, isExpired, parseFamily } from './session.ts';

/** Client, user and family of a session that is alive at this moment. */
export interface LiveSession {
  readonly client: Client;
  readonly user: User;
  readonly family: Family;
}

/** A live session together with what one of its access tokens may do. */
export interface AuthorizedSession extends LiveSession {
  /** The token's own scopes as far as role and client have them today. */
  readonly scopes: ReadonlySet<Scope>;
}

/** The tables a session is told from. */
export interface SessionTables {
  readonly clients: string;
  readonly users: string;
  readonly families: string;
}

/**
 * Why client and user may not go on with a family; `undefined` when nothing speaks against it. For the audit trail.
 * What was ended stays so: enabling again does not bring a version back.
 */
export function sessionFault(client: Client, user: User | undefined, family: Family): string | undefined {
  if (!user) return 'user_gone';
  if (user.status !== 'enabled') return 'user_disabled';
  if (user.version !== family.userVersion || client.version !== family.clientVersion) return 'session_ended';
  if (user.accountId !== family.accountId) return 'account_changed';
  if (client.accountId !== undefined && client.accountId !== user.accountId) return 'account_of_another_client';
  return undefined;
}

/**
 * The session these three make, if it is alive: client enabled, family neither revoked nor expired, user enabled and of
 * the same account, and both under the versions the session began with.
 */
export function liveSession(
  client: Client | undefined,
  user: User | undefined,
  family: Family | undefined,
  now: number,
): LiveSession | undefined {
  if (client?.status !== 'enabled' || !user || !family) return undefined;
  if (family.revokedAt !== undefined || isExpired(family, now)) return undefined;
  if (family.clientId !== client.clientId || family.userId !== user.userId) return undefined;
  return sessionFault(client, user, family) ? undefined : { client, user, family };
}

/** What reading a session stands on. */
export interface LiveSessionDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tables: SessionTables;
  readonly now: Clock;
}

/**
 * Finds the live session behind an access token's claims. Read consistently, in one round trip, and never cached, so
 * that whoever is out is out at once.
 */
export function makeSessionReading({ documents, tables, now }: LiveSessionDependencies) {
  return async function sessionReading(claims: AccessTokenClaims): Promise<AuthorizedSession | undefined> {
    const records = await readRecords(documents, {
      client: clientAddress(tables.clients, claims.client_id),
      user: userAddress(tables.users, claims.sub),
      family: familyAddress(tables.families, claims.sid),
    });
    const { client, user, family } = records;
    const session = liveSession(parseClient(client), parseUser(user), parseFamily(family), now());
    if (!session || claims.account_id !== session.family.accountId) return undefined;
    const scopes = commonScopes(storedScope(claims.scope ?? ''), scopesAllowed(session.client, session.user));
    return { ...session, scopes };
  };
}
