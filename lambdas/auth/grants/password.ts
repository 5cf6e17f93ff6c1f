import { readRecords } from '../../platform/aws/batch-get.ts';
import type { Dynamo, ItemKey } from '../../platform/aws/dynamo.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import type { Parameters } from '../form-request.ts';
import type { MakeOAuthError, OAuthError } from '../oauth-error.ts';
import type { Client } from '../principals/client.ts';
import { importedPrefix } from '../principals/imported-hash.ts';
import type { PasswordHashing } from '../principals/password-hash.ts';
import { commonScopes, type Scope, scopesAllowed } from '../principals/scope.ts';
import {
  type Credential,
  credentialKey,
  maxEmailBytes,
  normaliseBoundedEmail,
  parseCredential,
  parseUser,
  type User,
  type UserTables,
  userKey,
} from '../principals/user.ts';
import { recordUser } from '../protection/audit.ts';
import type { Lockout } from '../protection/lockout.ts';
import type { Failures } from '../protection/lockout-rule.ts';
import type { ClientRateLimit } from '../protection/rate-limit.ts';
import type { TokenResponse } from '../responses.ts';
import {
  type Grant,
  type GrantRequest,
  type MakeGrantError,
  type PreparedGrant,
  rejectForeignScopes,
  requestedScope,
  requireParameter,
} from './grant.ts';
import type { StartSession } from './start-session.ts';

/**
 * Creates the resource owner password credentials grant (RFC 6749 section 4.3). It prevents user enumeration, including by timing.
 * Every rejected login performs the same reads and one hash and returns the same bytes, even if the user is unknown, disabled or of another
 * account. During a lock, a login performs no hash and no write, so clients that retry old passwords use few resources.
 */
export function makePasswordGrant({
  dynamo,
  tables,
  passwords,
  lockout,
  clientRateLimit,
  startSession,
  log,
  makeId,
}: {
  readonly dynamo: Dynamo;
  readonly tables: UserTables;
  readonly passwords: PasswordHashing;
  readonly lockout: Lockout;
  readonly clientRateLimit: ClientRateLimit;
  readonly startSession: StartSession;
  readonly log: Pick<Log, 'error'>;
  readonly makeId: MakeId;
}): Grant {
  return { prepare };

  async function prepare(parameters: Parameters, makeError: MakeGrantError, clientId: string): Promise<PreparedGrant> {
    const email = requireUsername(parameters, makeError);
    const password = requireParameter(parameters, 'password', passwordRule, makeError);
    const requested = requestedScope(parameters, makeError);
    const lockoutKey = await lockout.keyOf(clientId, email);
    return {
      keysToRead: {
        credential: credentialKey(tables.credentials, email),
        failures: lockoutKey,
        clientFailures: clientRateLimit.keyOf(clientId),
      },
      issue: request => logIn({ password, requested, lockoutKey }, request),
    };
  }

  async function logIn(parameters: PasswordParameters, request: GrantRequest): Promise<TokenResponse> {
    const { client, records, auditContext, makeError } = request;
    const { lockoutKey } = parameters;
    rejectForeignScopes(parameters.requested, client, makeError);
    rejectOverLimit(clientRateLimit.secondsToWait(records.clientFailures), makeError);
    // The failures are read before the hash is computed. A lock that starts in between does not affect this decision.
    const failures = lockout.failuresIn(records.failures);
    const { credential, user } = await authenticateUser(parameters, failures, request);
    const scopes = await requireScopes(parameters, failures, user, request);
    const login = { client, user, scopes, lockoutKey, failures, auditContext };
    const response = await startSession({ ...login, rejectLockedLogin: () => rejectLockedLogin(login, makeError) });
    await rehash(credential, parameters.password);
    return response;
  }

  /** Computes one hash, unless the address is locked, and reads one user. Counts a login that is rejected after the hash. @throws {OAuthError} */
  async function authenticateUser(
    { password, lockoutKey }: PasswordParameters,
    failures: Failures,
    { client, records, auditContext, makeError }: GrantRequest,
  ): Promise<AuthenticatedUser> {
    const credential = parseCredential(records.credential);
    const isLocked = failures.lockedUntil !== undefined;
    const isMatch = !isLocked && (await isCorrect(password, credential));
    const user = await readUser(credential); // read after the slow hash, so that the user is up to date
    if (user) recordUser(auditContext, user);
    if (isLocked) throw credentialsError('user_locked', makeError);
    const decision = decideLogin(credential, user, isMatch, client);
    if (decision.outcome === 'accepted') return decision;
    // These calls are sequential, because a correct password that a concurrent lock rejects also takes two sequential calls.
    await lockout.recordFailure(lockoutKey, failures);
    await clientRateLimit.count(client.clientId);
    throw credentialsError(decision.reason, makeError);
  }

  /** Counts a correct password as a failure if a lock started during the login. Otherwise, the next lock would reveal a correct guess. */
  async function rejectLockedLogin(
    { lockoutKey, failures }: LockoutState,
    makeError: MakeGrantError,
  ): Promise<OAuthError> {
    await lockout.recordFailure(lockoutKey, failures);
    return credentialsError('user_locked_during_login', makeError);
  }

  /** Returns whether a password matches. If an imported hash cannot be verified, logs the error and returns false after a dummy hash. */
  async function isCorrect(password: string, credential: Credential | undefined): Promise<boolean> {
    if (!credential?.passwordHash.startsWith(importedPrefix)) {
      return passwords.verify(password, credential?.passwordHash ?? passwords.dummy);
    }
    try {
      return await passwords.verify(password, credential.passwordHash);
    } catch (error) {
      log.error('password.unverifiable', { userId: credential.userId, ...describeError(error) });
      return passwords.verify(password, passwords.dummy);
    }
  }

  /** Reads the user of a credential. Without a credential, reads an unused id, because the login of an unknown user must take as long. */
  async function readUser(credential: Credential | undefined): Promise<User | undefined> {
    const records = await readRecords(dynamo, { user: userKey(tables.users, credential?.userId ?? makeId(22)) });
    return parseUser(records.user);
  }

  /**
   * Returns the scopes that the client and the role allow, limited to the requested scopes if there are any.
   *
   * @throws {OAuthError} if the role lacks all requested scopes. The correct password still clears the failures.
   */
  async function requireScopes(
    parameters: PasswordParameters,
    failures: Failures,
    user: User,
    { client, makeError }: GrantRequest,
  ): Promise<ReadonlySet<Scope>> {
    const { requested, lockoutKey } = parameters;
    const allowed = scopesAllowed(client, user);
    const scopes = requested ? commonScopes(requested, allowed) : allowed;
    if (!requested || scopes.size > 0) return scopes;
    if (!(await lockout.recordSuccess(lockoutKey, failures)))
      throw await rejectLockedLogin({ lockoutKey, failures }, makeError);
    throw makeError('scope_of_no_role');
  }

  /** Replaces an outdated hash. If this fails, the next login tries again. */
  async function rehash({ email, passwordHash }: Credential, password: string): Promise<void> {
    if (!passwords.needsRehash(passwordHash, password)) return;
    const when = expression`passwordHash = ${passwordHash}`;
    await passwords
      .hash(password)
      .then(hash => updateItem(dynamo, credentialKey(tables.credentials, email), { set: { passwordHash: hash }, when }))
      .catch(() => undefined);
  }
}

/** Rejects a login if the client has sent too many wrong passwords in this minute. @throws {OAuthError} 429 */
function rejectOverLimit(retryAfterSeconds: number | undefined, makeError: MakeOAuthError<'client_rate_limit'>): void {
  if (retryAfterSeconds !== undefined) throw makeError('client_rate_limit', { retryAfterSeconds });
}

/**
 * Returns the normalised user name. The length limit applies to the normalised name.
 *
 * @throws {OAuthError} if it is missing, blank or too long.
 */
function requireUsername(
  parameters: Parameters,
  makeError: MakeOAuthError<'username_missing' | 'username_too_long'>,
): string {
  const username = parameters.get('username')?.trim() ?? '';
  if (username === '') throw makeError(usernameRule.missing);
  const email = normaliseBoundedEmail(username);
  if (email === undefined) throw makeError(usernameRule.tooLong);
  return email;
}

export const usernameRule = {
  missing: 'username_missing',
  tooLong: 'username_too_long',
  maxBytes: maxEmailBytes,
} as const;

export const passwordRule = { missing: 'password_missing', tooLong: 'password_too_long', maxBytes: 1_024 } as const;

interface PasswordParameters {
  readonly password: string;
  readonly requested: ReadonlySet<Scope> | undefined;
  readonly lockoutKey: ItemKey;
}

/** The lockout key and the failures of a login. */
interface LockoutState {
  readonly lockoutKey: ItemKey;
  /** The failures read before the password was verified. */
  readonly failures: Failures;
}

/** Returns the same error for all reasons (RFC 6749 section 5.2). Only the audit trail contains the reason. */
function credentialsError(reason: string, makeError: MakeOAuthError<'credentials_rejected'>): OAuthError {
  return makeError('credentials_rejected', { reason });
}

function decideLogin(
  credential: Credential | undefined,
  user: User | undefined,
  isMatch: boolean,
  client: Client,
): LoginDecision {
  if (!credential || !user) return { outcome: 'rejected', reason: 'user_unknown' };
  if (!isMatch) return { outcome: 'rejected', reason: 'password_wrong' };
  if (credential.credentialVersion !== user.credentialVersion)
    return { outcome: 'rejected', reason: 'password_changed' };
  if (user.status !== 'enabled') return { outcome: 'rejected', reason: 'user_disabled' };
  if (client.accountId !== undefined && client.accountId !== user.accountId) {
    return { outcome: 'rejected', reason: 'account_of_another_client' };
  }
  return { outcome: 'accepted', credential, user };
}

type LoginDecision =
  | (AuthenticatedUser & { readonly outcome: 'accepted' })
  | { readonly outcome: 'rejected'; readonly reason: string };

interface AuthenticatedUser {
  readonly credential: Credential;
  readonly user: User;
}
