import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readRecords } from '../../platform/batch-get.ts';
import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { Parameters } from '../form-request.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Client } from '../principals/client.ts';
import type { CredentialStore } from '../principals/credential-store.ts';
import type { PasswordHashing } from '../principals/password-hash.ts';
import { commonScopes, formatScope, type Scope, scopesAllowed } from '../principals/scope.ts';
import {
  type Credential,
  credentialKey,
  normaliseEmail,
  parseCredential,
  parseUser,
  type User,
  userKey,
} from '../principals/user.ts';
import type { UserTables } from '../principals/user-store.ts';
import type { Lockout } from '../protection/lockout.ts';
import type { FailureLimit } from '../protection/rate-limit.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { type Grant, refuseForeignScopes, requestedScope, requireParameter } from './grant.ts';
import type { PrepareTokens, TokenResponse } from './token-issue.ts';

/** What the password grant needs. */
export interface PasswordGrantDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly userTables: UserTables;
  readonly credentials: Pick<CredentialStore, 'replacePasswordHash'>;
  readonly sessions: Pick<SessionStore, 'createSession' | 'revokeSession'>;
  readonly passwords: PasswordHashing;
  readonly lockout: Lockout;
  readonly clientRateLimit: Pick<FailureLimit, 'count'>;
  readonly prepareTokens: PrepareTokens;
  readonly refreshIdleSeconds: number;
  readonly refreshAbsoluteSeconds: number;
  readonly now: Clock;
  readonly makeId: MakeId;
}

/**
 * The resource owner password credentials grant (RFC 6749 section 4.3). A known, unknown, disabled, locked or foreign
 * user costs the same reads and the same one hash, and gets the same bytes. Whether a lock stands is told before the
 * hash, so that whatever is judged counts; the user is read after it, since it takes longer than anything else.
 */
export function makePasswordGrant(dependencies: PasswordGrantDependencies): Grant {
  const { dynamo, userTables, credentials, sessions, passwords, lockout, clientRateLimit, now, makeId } = dependencies;

  /** A session that lacks nothing but its first key. */
  const newSession = (client: Client, user: User, scopes: ReadonlySet<Scope>): Omit<Session, 'keyId'> => {
    const moment = now();
    const absoluteExpiresAt = moment + dependencies.refreshAbsoluteSeconds * 1_000;
    return {
      sessionId: `${user.userId}-${makeId(22)}`,
      clientId: client.clientId,
      userId: user.userId,
      accountId: user.accountId,
      userVersion: user.version,
      clientVersion: client.version,
      scope: formatScope(scopes),
      counter: 1,
      createdAt: moment,
      rotatedAt: moment,
      idleExpiresAt: Math.min(moment + dependencies.refreshIdleSeconds * 1_000, absoluteExpiresAt),
      absoluteExpiresAt,
    };
  };

  /** Best effort: when it fails, the next login tries again. */
  const rehash = async ({ email, passwordHash }: Credential, password: string): Promise<void> => {
    if (!passwords.needsRehash(passwordHash)) return;
    await credentials.replacePasswordHash(email, passwordHash, await passwords.hash(password)).catch(() => undefined);
  };

  /** Begins a session for a password that was judged to be right. `commit` tells whether no lock fell meanwhile. */
  const begin = async (
    client: Client,
    user: User,
    scopes: ReadonlySet<Scope>,
    commit: () => Promise<boolean>,
  ): Promise<{ session: Session; response: TokenResponse }> => {
    const begun = newSession(client, user, scopes);
    const tokens = await dependencies.prepareTokens({ client, session: begun, scopes });
    const session = { ...begun, keyId: tokens.keyId };
    // together, to save a round trip: a session that comes to nothing is one that nobody has a token of
    const [isCommitted] = await Promise.all([commit(), sessions.createSession(session)]);
    if (isCommitted) return { session, response: await tokens.write(session) };
    await sessions.revokeSession(session.sessionId, 'lockout', now());
    throw refused('user_locked_meanwhile');
  };

  return {
    prepare: async (parameters, clientId) => {
      const email = requireUsername(parameters);
      const password = requireParameter(parameters, 'password', passwordRule);
      const requested = requestedScope(parameters);
      const place = await lockout.place(clientId, email);

      return {
        reads: { credential: credentialKey(userTables.credentials, email), failures: place },
        issue: async ({ client, records, auditContext }) => {
          refuseForeignScopes(requested, client);
          const record = lockout.read(place, records.failures);
          const credential = parseCredential(records.credential);
          const isMatch = await passwords.verify(password, credential?.passwordHash ?? passwords.dummy);
          const latest = await readRecords(dynamo, {
            user: userKey(userTables.users, credential?.userId ?? makeId(22)), // nobody's id: an unknown user costs a read too
          });
          const user = parseUser(latest.user);
          if (user) auditContext.userId = user.userId;
          if (record.isLocked) throw refused('user_locked');

          const fault = refusalReason(credential, user, isMatch, client);
          if (fault || !credential || !user) {
            await lockout.countFailure(place, record);
            // one after the other, as a right password that comes too late takes two writes as well
            await clientRateLimit.count(client.clientId);
            throw refused(fault ?? 'user_unknown');
          }

          const allowed = scopesAllowed(client, user);
          const scopes = requested ? commonScopes(requested, allowed) : allowed;
          const commit = () => lockout.commit(place, record);
          if (requested && scopes.size === 0) {
            throw (await commit()) ? new OAuthError('scope_of_no_role') : refused('user_locked_meanwhile');
          }
          const { session, response } = await begin(client, user, scopes, commit);
          auditContext.sessionId = session.sessionId;
          await rehash(credential, password);
          return response;
        },
      };
    },
  };
}

function refused(reason: string): OAuthError {
  return new OAuthError('credentials_refused', { reason });
}

/** The user name as it is stored. @throws {OAuthError} also for one of nothing but blanks. */
function requireUsername(parameters: Parameters): string {
  const email = normaliseEmail(requireParameter(parameters, 'username', usernameRule));
  if (email === '') throw new OAuthError(usernameRule.missing);
  return email;
}

const passwordRule = { missing: 'password_missing', tooLong: 'password_too_long', mostBytes: 1_024 } as const;

/** Why a login is refused, for the audit trail; `undefined` when it is not. */
function refusalReason(
  credential: Credential | undefined,
  user: User | undefined,
  isMatch: boolean,
  client: Client,
): string | undefined {
  if (!credential || !user) return 'user_unknown';
  if (user.email !== credential.email) return 'address_given_up';
  if (!isMatch) return 'password_wrong';
  if (credential.credentialVersion !== user.credentialVersion) return 'password_changed';
  if (user.status !== 'enabled') return 'user_disabled';
  if (client.accountId !== undefined && client.accountId !== user.accountId) return 'account_of_another_client';
  return undefined;
}

const usernameRule = { missing: 'username_missing', tooLong: 'username_too_long', mostBytes: 254 } as const;
