import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import type { AccessTokenClaims } from './access-token.ts';
import { type Client, clientAddress, parseClient } from './client.ts';
import { type Family, familyAddress, isExpired, parseFamily } from './family.ts';
import { readRecords } from './records.ts';
import { commonScopes, type Scope, scopesOfRole, storedScope } from './scope.ts';
import { parseUser, type User, userAddress } from './user.ts';

/** Client, user and family of a session that is alive at this moment. */
export interface LiveSession {
  readonly client: Client;
  readonly user: User;
  readonly family: Family;
}

/** A live session together with what one of its access tokens may do. */
export interface AuthorizedSession extends LiveSession {
  /** The token's own scopes as far as the user's role has them today. */
  readonly scopes: ReadonlySet<Scope>;
}

/** The tables a session is told from. */
export interface SessionTables {
  readonly clients: string;
  readonly users: string;
  readonly families: string;
}

/** Why a user may not go on with a family; `undefined` when nothing speaks against it. For the audit trail. */
export const userFault = (user: User | undefined, family: Family, client: Client): string | undefined => {
  if (!user) return 'user_gone';
  if (user.status !== 'enabled') return 'user_disabled';
  if (user.credentialVersion !== family.credentialVersion) return 'password_changed';
  if (user.accountId !== family.accountId) return 'account_changed';
  if (client.accountId !== undefined && client.accountId !== user.accountId) return 'account_of_another_client';
  return undefined;
};

/** The scopes that were asked for or granted once, as far as a user's role has them today. */
export const scopesOfUser = (wanted: ReadonlySet<Scope>, user: User): ReadonlySet<Scope> =>
  commonScopes(wanted, scopesOfRole[user.role]);

/**
 * The session these three make, if it is alive: client enabled, family neither revoked nor expired, user enabled, of
 * the same account and with the same password.
 */
export const liveSession = (
  client: Client | undefined,
  user: User | undefined,
  family: Family | undefined,
  now: number,
): LiveSession | undefined => {
  if (client?.status !== 'enabled' || !user || !family) return undefined;
  if (family.revokedAt !== undefined || isExpired(family, now)) return undefined;
  if (family.clientId !== client.clientId || family.userId !== user.userId) return undefined;
  return userFault(user, family, client) ? undefined : { client, user, family };
};

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
export const makeSessionReading = ({ documents, tables, now }: LiveSessionDependencies) => {
  return async (claims: AccessTokenClaims): Promise<AuthorizedSession | undefined> => {
    const records = await readRecords(documents, {
      client: clientAddress(tables.clients, claims.client_id),
      user: userAddress(tables.users, claims.sub),
      family: familyAddress(tables.families, claims.sid),
    });
    const { client, user, family } = records;
    const session = liveSession(parseClient(client), parseUser(user), parseFamily(family), now());
    if (!session || claims.account_id !== session.family.accountId) return undefined;
    return { ...session, scopes: scopesOfUser(storedScope(claims.scope ?? ''), session.user) };
  };
};
