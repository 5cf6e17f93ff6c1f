import type { ItemKey } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { TokenResponse } from '../answers.ts';
import { accessTokenSeconds, refreshAbsoluteSeconds, refreshIdleSeconds } from '../lifetimes.ts';
import type { OAuthError } from '../oauth-error.ts';
import { type Client, mayRefresh } from '../principals/client.ts';
import { formatScope, type Scope } from '../principals/scope.ts';
import type { User } from '../principals/user.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { Lockout } from '../protection/lockout.ts';
import type { Failures } from '../protection/lockout-rule.ts';
import { type Session, sessionIdPrefix } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { PrepareTokens } from './prepare-tokens.ts';

/** Begins the session of a login whose password was right, and writes its tokens. @throws {OAuthError} */
export type BeginSession = (login: Login) => Promise<TokenResponse>;

export function makeSessionBeginning({
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
}): BeginSession {
  return async function beginSession(login) {
    const { client, scopes, auditContext } = login;
    const { idle, absolute } = lifeOf(client);
    const sessionWithoutKey = newSession(login);
    const secondsLeft = Math.min(idle, absolute);
    const tokens = await prepareTokens({ client, session: sessionWithoutKey, secondsLeft, scopes });
    const session = { ...sessionWithoutKey, keyId: tokens.keyId };
    await createAndRecord(session, login);
    auditContext.sessionId = session.sessionId;
    return tokens.write(session);
  };

  /** Makes a new session. It lacks its key id only. */
  function newSession({ client, user, scopes }: Login): Omit<Session, 'keyId'> {
    const moment = now();
    const { idle, absolute } = lifeOf(client);
    const absoluteExpiresAt = moment + absolute * 1_000;
    return {
      sessionId: `${sessionIdPrefix(user.userId)}${makeId(22)}`,
      clientId: client.clientId,
      userId: user.userId,
      accountId: user.accountId,
      userVersion: user.version,
      clientVersion: client.version,
      scope: formatScope(scopes),
      counter: 1,
      createdAt: moment,
      rotatedAt: moment,
      idleExpiresAt: Math.min(moment + idle * 1_000, absoluteExpiresAt),
      absoluteExpiresAt,
    };
  }

  /**
   * Stores the session and records the success at the same time, which saves a round trip: no token of the
   * session is sent before both have succeeded. If it throws, the session is deleted.
   *
   * @throws {OAuthError} if a lock started since the failures were read.
   */
  async function createAndRecord(session: Session, { lockoutKey, failures, refuseOvertaken }: Login): Promise<void> {
    const [recorded, created] = await Promise.allSettled([
      lockout.recordSuccess(lockoutKey, failures),
      sessions.createSession(session), // waited for, too: a deletion that overtook it would delete nothing
    ]);
    const failed = [recorded, created].find(one => one.status === 'rejected');
    const isOvertaken = recorded.status === 'fulfilled' && !recorded.value;
    if (!isOvertaken && !failed) return;
    const deletion = deleteSession(session);
    try {
      // A lock comes before a failure to store the session: a wrong password, too, is refused and counted then.
      throw isOvertaken ? await refuseOvertaken() : failed?.reason;
    } finally {
      await deletion;
    }
  }

  /** Best effort: a session that stays is never used. */
  async function deleteSession({ sessionId }: Session): Promise<void> {
    await sessions.deleteSession(sessionId).catch(() => undefined);
  }
}

/** Returns the seconds that a session lives without use, and at most: as long as something can be got from it. */
function lifeOf(client: Client): { readonly idle: number; readonly absolute: number } {
  return mayRefresh(client)
    ? { idle: refreshIdleSeconds, absolute: refreshAbsoluteSeconds }
    : { idle: accessTokenSeconds, absolute: accessTokenSeconds };
}

/** A login whose password was right. */
interface Login {
  readonly client: Client;
  readonly user: User;
  readonly scopes: ReadonlySet<Scope>;
  readonly lockoutKey: ItemKey;
  /** As they were read before the password was judged. */
  readonly failures: Failures;
  readonly auditContext: AuditContext;
  /** Counts and refuses a right password that a lock overtook. */
  readonly refuseOvertaken: () => Promise<OAuthError>;
}
