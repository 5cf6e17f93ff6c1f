import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { Client } from '../client.ts';
import type { Family } from '../family.ts';
import type { FamilyStore } from '../family-store.ts';
import { scopesOfUser } from '../live-session.ts';
import type { Lockout } from '../lockout.ts';
import { OAuthError } from '../oauth-error.ts';
import type { PasswordHashing } from '../password-hash.ts';
import type { RateLimit } from '../rate-limit.ts';
import { readRecords } from '../records.ts';
import { allScopes, formatScope, type Scope } from '../scope.ts';
import type { PrepareTokens } from '../token-issue.ts';
import { type Login, loginAddress, normaliseEmail, parseLogin, parseUser, type User, userAddress } from '../user.ts';
import type { UserStore, UserTables } from '../user-store.ts';
import { type Grant, requestedScope, requireParameter } from './grant.ts';

/** What the password grant stands on. */
export interface PasswordGrantDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly userTables: UserTables;
  readonly users: Pick<UserStore, 'replacePasswordHash'>;
  readonly families: Pick<FamilyStore, 'createFamily'>;
  readonly passwords: PasswordHashing;
  readonly lockout: Lockout;
  readonly clientLimit: Pick<RateLimit, 'countFailure'>;
  readonly prepareTokens: PrepareTokens;
  readonly refreshIdleSeconds: number;
  readonly refreshAbsoluteSeconds: number;
  readonly now: Clock;
  readonly makeId: MakeId;
}

const usernameRule = { missing: 'username_missing', tooLong: 'username_too_long', mostBytes: 254 } as const;
const passwordRule = { missing: 'password_missing', tooLong: 'password_too_long', mostBytes: 1_024 } as const;

/** Why a login is refused, for the audit trail; `undefined` when it is not. */
const loginFault = (
  login: Login | undefined,
  user: User | undefined,
  isMatch: boolean,
  client: Client,
): string | undefined => {
  if (!login || !user) return 'user_unknown';
  if (!isMatch) return 'password_wrong';
  if (login.credentialVersion !== user.credentialVersion) return 'password_changed';
  if (user.status !== 'enabled') return 'user_disabled';
  if (client.accountId !== undefined && client.accountId !== user.accountId) return 'account_of_another_client';
  return undefined;
};

/**
 * The resource owner password credentials grant (RFC 6749 section 4.3). A known, unknown, disabled, locked or foreign
 * user costs the same reads and the same one hash, and gets the same bytes. The user and the failures are read after
 * the hash, which takes longer than anything else: what happened meanwhile counts.
 */
export const makePasswordGrant = (dependencies: PasswordGrantDependencies): Grant => {
  const { documents, userTables, users, families, passwords, lockout, clientLimit, now, makeId } = dependencies;

  /** A family that lacks nothing but its first key. */
  const newFamily = (client: Client, user: User, scopes: ReadonlySet<Scope>): Omit<Family, 'keyId'> => {
    const moment = now();
    const absoluteExpiresAt = moment + dependencies.refreshAbsoluteSeconds * 1_000;
    return {
      familyId: `${user.userId}-${makeId(22)}`,
      clientId: client.clientId,
      userId: user.userId,
      accountId: user.accountId,
      credentialVersion: user.credentialVersion,
      scope: formatScope(scopes),
      counter: 1,
      createdAt: moment,
      rotatedAt: moment,
      idleExpiresAt: Math.min(moment + dependencies.refreshIdleSeconds * 1_000, absoluteExpiresAt),
      absoluteExpiresAt,
    };
  };

  /** Best effort: when it fails, the next login tries again. */
  const rehash = async ({ email, passwordHash }: Login, password: string): Promise<void> => {
    if (!passwords.needsRehash(passwordHash)) return;
    await users.replacePasswordHash(email, passwordHash, await passwords.hash(password)).catch(() => undefined);
  };

  return {
    prepare: async (parameters, clientId) => {
      const email = normaliseEmail(requireParameter(parameters, 'username', usernameRule));
      const password = requireParameter(parameters, 'password', passwordRule);
      const requested = requestedScope(parameters);
      const locks = await lockout.addresses(clientId, email);

      return {
        reads: { login: loginAddress(userTables.logins, email) },
        issue: async ({ client, records, decision }) => {
          const refuse = async (reason: string, ...writes: Promise<void>[]): Promise<never> => {
            await Promise.all([clientLimit.countFailure(client.clientId), ...writes]);
            throw new OAuthError('credentials_refused', { reason });
          };

          const login = parseLogin(records.login);
          const isMatch = await passwords.verify(password, login?.passwordHash ?? passwords.dummy);
          const latest = await readRecords(documents, {
            user: userAddress(userTables.users, login?.userId ?? makeId(22)), // nobody's id: an unknown user costs a read too
            ...locks,
          });
          const user = parseUser(latest.user);
          if (user) decision.userId = user.userId;
          if (lockout.stands(latest)) return refuse('user_locked');
          const fault = loginFault(login, user, isMatch, client);
          if (fault || !login || !user) return refuse(fault ?? 'user_unknown', lockout.countFailure(locks, latest));

          const scopes = scopesOfUser(requested ?? allScopes, user);
          const begun = newFamily(client, user, scopes);
          const tokens = await dependencies.prepareTokens({ client, family: begun, scopes });
          const family = { ...begun, keyId: tokens.keyId };
          // together, to save a round trip: a family that comes to nothing is one that nobody has a token of
          const [isCommitted] = await Promise.all([lockout.commit(locks), families.createFamily(family)]);
          if (!isCommitted) return refuse('user_locked_meanwhile');

          decision.familyId = family.familyId;
          await rehash(login, password);
          return tokens.write(family);
        },
      };
    },
  };
};
