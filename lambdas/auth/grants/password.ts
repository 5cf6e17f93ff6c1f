import { readRecords } from '../../platform/aws/batch-get.ts';
import type { Dynamo, ItemKey } from '../../platform/aws/dynamo.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import type { TokenResponse } from '../answers.ts';
import type { Parameters } from '../form-request.ts';
import type { OAuthError, Refuse } from '../oauth-error.ts';
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
import { noteUser } from '../protection/audit.ts';
import type { Lockout } from '../protection/lockout.ts';
import type { Failures } from '../protection/lockout-rule.ts';
import type { ClientRateLimit } from '../protection/rate-limit.ts';
import {
  type Grant,
  type GrantRequest,
  type PreparedGrant,
  type RefuseGrant,
  refuseForeignScopes,
  requestedScope,
  requireParameter,
} from './grant.ts';
import type { StartSession } from './start-session.ts';

/**
 * Creates the resource owner password credentials grant (RFC 6749 section 4.3). It prevents user enumeration, including by timing.
 * Every rejected login costs the same reads and one hash, and returns the same bytes. That holds for unknown and disabled users, and for
 * users of another account. During a lock, a login costs no hash or write for any address. Clients that retry old passwords cost little.
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

  async function prepare(parameters: Parameters, refuse: RefuseGrant, clientId: string): Promise<PreparedGrant> {
    const email = requireUsername(parameters, refuse);
    const password = requireParameter(parameters, 'password', passwordRule, refuse);
    const requested = requestedScope(parameters, refuse);
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
    const { client, records, auditContext, refuse } = request;
    const { lockoutKey } = parameters;
    refuseForeignScopes(parameters.requested, client, refuse);
    refuseOverLimit(clientRateLimit.secondsToWait(records.clientFailures), refuse);
    // Read before hashing: a lock that starts during the hash does not affect this decision.
    const failures = lockout.failuresIn(records.failures);
    const { credential, user } = await authenticateUser(parameters, failures, request);
    const scopes = await requireScopes(parameters, failures, user, request);
    const login = { client, user, scopes, lockoutKey, failures, auditContext };
    const response = await startSession({ ...login, refuseOvertaken: () => refuseOvertaken(login, refuse) });
    await rehash(credential, parameters.password);
    return response;
  }

  /** Hashes once, unless locked, then reads once, for any user. Counts each login that is rejected after a hash. @throws {OAuthError} */
  async function authenticateUser(
    { password, lockoutKey }: PasswordParameters,
    failures: Failures,
    { client, records, auditContext, refuse }: GrantRequest,
  ): Promise<AuthenticatedUser> {
    const credential = parseCredential(records.credential);
    const isLocked = failures.lockedUntil !== undefined;
    const isMatch = !isLocked && (await isRight(password, credential));
    const user = await readUser(credential); // read after the slow hash, to be up to date
    if (user) noteUser(auditContext, user);
    if (isLocked) throw refused('user_locked', refuse);
    const judgement = judge(credential, user, isMatch, client);
    if (judgement.outcome === 'accepted') return judgement;
    // Two sequential calls, as for a right password that a lock overtakes, so that both cases take the same time.
    await lockout.recordFailure(lockoutKey, failures);
    await clientRateLimit.count(client.clientId);
    throw refused(judgement.reason, refuse);
  }

  /** Counts a right password that a lock overtook. Otherwise, the next lock would reveal which burst of guesses contained it. */
  async function refuseOvertaken({ lockoutKey, failures }: Judged, refuse: RefuseGrant): Promise<OAuthError> {
    await lockout.recordFailure(lockoutKey, failures);
    return refused('user_locked_meanwhile', refuse);
  }

  /** Logs an imported hash that cannot be verified. Treats the password as wrong, at the cost of an unknown user. */
  async function isRight(password: string, credential: Credential | undefined): Promise<boolean> {
    if (!credential?.passwordHash.startsWith(importedPrefix)) {
      return passwords.verify(password, credential?.passwordHash ?? passwords.dummy);
    }
    try {
      return await passwords.verify(password, credential.passwordHash);
    } catch (error) {
      log.error('password.not_judged', { userId: credential.userId, ...describeError(error) });
      return passwords.verify(password, passwords.dummy);
    }
  }

  /** Reads the user of a credential. Without a credential, it reads an unused id, so that an unknown user also costs a read. */
  async function readUser(credential: Credential | undefined): Promise<User | undefined> {
    const records = await readRecords(dynamo, { user: userKey(tables.users, credential?.userId ?? makeId(22)) });
    return parseUser(records.user);
  }

  /**
   * Returns the scopes that client and role allow, limited to the requested scopes, if any.
   *
   * @throws {OAuthError} if the role lacks all requested scopes. The right password still resets the failures.
   */
  async function requireScopes(
    parameters: PasswordParameters,
    failures: Failures,
    user: User,
    { client, refuse }: GrantRequest,
  ): Promise<ReadonlySet<Scope>> {
    const { requested, lockoutKey } = parameters;
    const allowed = scopesAllowed(client, user);
    const scopes = requested ? commonScopes(requested, allowed) : allowed;
    if (!requested || scopes.size > 0) return scopes;
    if (!(await lockout.recordSuccess(lockoutKey, failures)))
      throw await refuseOvertaken({ lockoutKey, failures }, refuse);
    throw refuse('scope_of_no_role');
  }

  /** Replaces an outdated hash. After a failure, the next login retries. */
  async function rehash({ email, passwordHash }: Credential, password: string): Promise<void> {
    if (!passwords.needsRehash(passwordHash, password)) return;
    const when = expression`passwordHash = ${passwordHash}`;
    await passwords
      .hash(password)
      .then(hash => updateItem(dynamo, credentialKey(tables.credentials, email), { set: { passwordHash: hash }, when }))
      .catch(() => undefined);
  }
}

/** Rejects logins while too many passwords of the client were wrong, for password grants only. @throws {OAuthError} 429 */
function refuseOverLimit(retryAfterSeconds: number | undefined, refuse: Refuse<'client_rate_limit'>): void {
  if (retryAfterSeconds !== undefined) throw refuse('client_rate_limit', { retryAfterSeconds });
}

/**
 * Returns the normalised user name. The length limit applies to this form, not to the input.
 *
 * @throws {OAuthError} if it is missing, blank or too long.
 */
function requireUsername(parameters: Parameters, refuse: Refuse<'username_missing' | 'username_too_long'>): string {
  const typed = parameters.get('username')?.trim() ?? '';
  if (typed === '') throw refuse(usernameRule.missing);
  const email = normaliseBoundedEmail(typed);
  if (email === undefined) throw refuse(usernameRule.tooLong);
  return email;
}

/** The rule for the normalised `username`. */
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
interface Judged {
  readonly lockoutKey: ItemKey;
  /** The failures read before the password was verified. */
  readonly failures: Failures;
}

/** Returns the same error for all reasons (RFC 6749 section 5.2). Only the audit trail contains the reason. */
function refused(reason: string, refuse: Refuse<'credentials_refused'>): OAuthError {
  return refuse('credentials_refused', { reason });
}

function judge(
  credential: Credential | undefined,
  user: User | undefined,
  isMatch: boolean,
  client: Client,
): Judgement {
  if (!credential || !user) return { outcome: 'refused', reason: 'user_unknown' };
  if (!isMatch) return { outcome: 'refused', reason: 'password_wrong' };
  if (credential.credentialVersion !== user.credentialVersion)
    return { outcome: 'refused', reason: 'password_changed' };
  if (user.status !== 'enabled') return { outcome: 'refused', reason: 'user_disabled' };
  if (client.accountId !== undefined && client.accountId !== user.accountId) {
    return { outcome: 'refused', reason: 'account_of_another_client' };
  }
  return { outcome: 'accepted', credential, user };
}

type Judgement =
  | (AuthenticatedUser & { readonly outcome: 'accepted' })
  | { readonly outcome: 'refused'; readonly reason: string };

interface AuthenticatedUser {
  readonly credential: Credential;
  readonly user: User;
}
