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
 * Every rejected login makes the same reads, computes one hash and returns the same response, even if the user is unknown, disabled or in
 * another account. During a lock, a login computes no hash and writes nothing, so clients that retry old passwords use few resources.
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
    const requestedScopes = requestedScope(parameters, makeError);
    const lockoutKey = await lockout.keyOf(clientId, email);
    return {
      keysToRead: {
        credential: credentialKey(tables.credentials, email),
        failures: lockoutKey,
        clientFailures: clientRateLimit.keyOf(clientId),
      },
      issue: request => logIn({ password, requestedScopes, lockoutKey }, request),
    };
  }

  async function logIn(parameters: PasswordParameters, request: GrantRequest): Promise<TokenResponse> {
    const { client, records, auditContext, makeError } = request;
    const { lockoutKey } = parameters;
    rejectForeignScopes(parameters.requestedScopes, client, makeError);
    rejectOverLimit(clientRateLimit.secondsToWait(records.clientFailures), makeError);
    // These failures were read before the hash is computed. `startSession` detects a lock that starts later.
    const failures = lockout.failuresIn(records.failures);
    const { credential, user } = await authenticateUser(parameters, failures, request);
    const scopes = await requireScopes(parameters, failures, user, request);
    const login = { client, user, scopes, lockoutKey, failures, auditContext };
    const response = await startSession({ ...login, rejectLockedLogin: () => rejectLockedLogin(login, makeError) });
    await rehash(credential, parameters.password);
    return response;
  }

  /** Verifies the password, reads the user and counts a rejected login. During a lock, does not hash or count. @throws {OAuthError} */
  async function authenticateUser(
    { password, lockoutKey }: PasswordParameters,
    failures: Failures,
    { client, records, auditContext, makeError }: GrantRequest,
  ): Promise<AuthenticatedUser> {
    const credential = parseCredential(records.credential);
    const isLocked = failures.lockedUntil !== undefined;
    const isMatch = !isLocked && (await isCorrect(password, credential));
    const user = await readUser(credential); // read after the slow hash, to get the latest version
    if (user) recordUser(auditContext, user);
    if (isLocked) throw credentialsError('user_locked', makeError);
    const decision = decideLogin(credential, user, isMatch, client);
    if (decision.outcome === 'accepted') return decision;
    // The calls are sequential, because rejecting a correct password after a concurrent lock also takes two sequential calls.
    await lockout.recordFailure(lockoutKey, failures);
    await clientRateLimit.count(client.clientId);
    throw credentialsError(decision.reason, makeError);
  }

  /** Counts a correct password as a failure, and returns the error. Otherwise, the duration of the next lock would reveal a correct guess. */
  async function rejectLockedLogin(state: LockoutState, makeError: MakeGrantError): Promise<OAuthError> {
    await lockout.recordFailure(state.lockoutKey, state.failures);
    return credentialsError('user_locked_during_login', makeError);
  }

  /** Returns whether a password matches. If an imported hash cannot be verified, logs the error, computes a dummy hash and returns false. */
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

  /** Reads the user of a credential. Without a credential, reads an unused id, because a login without a user must take the same time. */
  async function readUser(credential: Credential | undefined): Promise<User | undefined> {
    const records = await readRecords(dynamo, { user: userKey(tables.users, credential?.userId ?? makeId(22)) });
    return parseUser(records.user);
  }

  /**
   * Returns the scopes that the client and the role allow, limited to the requested scopes, if any.
   *
   * @throws {OAuthError} if the role lacks all requested scopes. The correct password still clears the failures.
   */
  async function requireScopes(
    parameters: PasswordParameters,
    failures: Failures,
    user: User,
    { client, makeError }: GrantRequest,
  ): Promise<ReadonlySet<Scope>> {
    const { requestedScopes, lockoutKey } = parameters;
    const allowedScopes = scopesAllowed(client, user);
    const scopes = requestedScopes ? commonScopes(requestedScopes, allowedScopes) : allowedScopes;
    if (!requestedScopes || scopes.size > 0) return scopes;
    if (!(await lockout.recordSuccess(lockoutKey, failures)))
      throw await rejectLockedLogin({ lockoutKey, failures }, makeError);
    throw makeError('scope_of_no_role');
  }

  /** Replaces an outdated hash. If the replacement fails, the next login retries it. */
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
 * @throws {OAuthError} if the user name is missing, blank or too long.
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
  readonly requestedScopes: ReadonlySet<Scope> | undefined;
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
