import type { ItemKey } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { accessTokenSeconds, refreshAbsoluteSeconds, refreshIdleSeconds } from '../lifetimes.ts';
import type { OAuthError } from '../oauth-error.ts';
import { type Client, mayRefresh } from '../principals/client.ts';
import { formatScope, type Scope } from '../principals/scope.ts';
import type { User } from '../principals/user.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { Lockout } from '../protection/lockout.ts';
import type { Failures } from '../protection/lockout-rule.ts';
import type { TokenResponse } from '../responses.ts';
import { type Session, sessionIdPrefix } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { PrepareTokens } from './prepare-tokens.ts';

/** Starts a session after the password was verified, and returns its tokens. @throws {OAuthError} */
export type StartSession = (login: Login) => Promise<TokenResponse>;

export function makeStartSession({
  sessions,
  lockout,
  prepareTokens,
  now,
  makeId,
}: {
  readonly sessions: Pick<SessionStore, 'createSession' | 'deleteSession'>;
  readonly lockout: Pick<Lockout, 'recordSuccess'>;
  readonly prepareTokens: PrepareTokens;
  readonly now: Clock;
  readonly makeId: MakeId;
}): StartSession {
  return async function startSession(login) {
    const { client, scopes, auditContext } = login;
    const { idle, absolute } = lifetimesOf(client);
    const sessionWithoutKey = newSession(login);
    const remainingSeconds = Math.min(idle, absolute);
    const tokens = await prepareTokens({ client, session: sessionWithoutKey, remainingSeconds, scopes });
    const session = { ...sessionWithoutKey, keyId: tokens.keyId };
    await createAndRecord(session, login);
    auditContext.sessionId = session.sessionId;
    return tokens.write(session);
  };

  /** Returns a new session without its key id. */
  function newSession({ client, user, scopes }: Login): Omit<Session, 'keyId'> {
    const createdAt = now();
    const { idle, absolute } = lifetimesOf(client);
    const absoluteExpiresAt = createdAt + absolute * 1_000;
    return {
      sessionId: `${sessionIdPrefix(user.userId)}${makeId(22)}`,
      clientId: client.clientId,
      userId: user.userId,
      accountId: user.accountId,
      userVersion: user.version,
      clientVersion: client.version,
      scope: formatScope(scopes),
      counter: 1,
      createdAt,
      rotatedAt: createdAt,
      idleExpiresAt: Math.min(createdAt + idle * 1_000, absoluteExpiresAt),
      absoluteExpiresAt,
    };
  }

  /**
   * Stores the session and records the success in parallel, which saves a round trip. If either call fails, deletes the session.
   *
   * @throws {OAuthError} if a lock has started since the failures were read.
   */
  async function createAndRecord(session: Session, { lockoutKey, failures, rejectLockedLogin }: Login): Promise<void> {
    const [recording, creation] = await Promise.allSettled([
      lockout.recordSuccess(lockoutKey, failures),
      sessions.createSession(session), // awaited even if the other call fails, because the deletion must follow the creation
    ]);
    const failure = [recording, creation].find(call => call.status === 'rejected');
    const hasLockStarted = recording.status === 'fulfilled' && !recording.value;
    if (!hasLockStarted && !failure) return;
    const deletion = deleteSession(session);
    try {
      // A lock takes precedence over a storage error. Otherwise, the error would reveal that the password is correct.
      throw hasLockStarted ? await rejectLockedLogin() : failure?.reason;
    } finally {
      await deletion;
    }
  }

  /** Tries to delete a session. If the deletion fails, the session remains unused. */
  async function deleteSession({ sessionId }: Session): Promise<void> {
    await sessions.deleteSession(sessionId).catch(() => undefined);
  }
}

/** Returns the lifetimes of a session in seconds. If the client may not refresh, both are the lifetime of an access token. */
function lifetimesOf(client: Client): { readonly idle: number; readonly absolute: number } {
  return mayRefresh(client)
    ? { idle: refreshIdleSeconds, absolute: refreshAbsoluteSeconds }
    : { idle: accessTokenSeconds, absolute: accessTokenSeconds };
}

/** A login with the correct password. */
interface Login {
  readonly client: Client;
  readonly user: User;
  readonly scopes: ReadonlySet<Scope>;
  readonly lockoutKey: ItemKey;
  /** The failures read before the password was verified. */
  readonly failures: Failures;
  readonly auditContext: AuditContext;
  /** Counts the correct password as a failure, because a lock started during the login. Returns the error. */
  readonly rejectLockedLogin: () => Promise<OAuthError>;
}
