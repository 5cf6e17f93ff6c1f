import { type Client, mayRefresh } from '../../../lambdas/auth/principals/client.ts';
import type { Credential, User } from '../../../lambdas/auth/principals/user.ts';
import { type RefreshTokenContent, readRefreshToken } from '../../../lambdas/auth/sessions/refresh-token.ts';
import type { Session } from '../../../lambdas/auth/sessions/session.ts';
import { claimsOf, scopeOf } from './access-tokens.ts';
import { type TokenRequest, timesOf } from './journal.ts';
import type { LockModel } from './lock-model.ts';
import { isPasswordOf } from './quick-derivation.ts';
import type { SessionEnds } from './session-ends.ts';
import type { States } from './states.ts';

/** The expected outcome of a request. It is `either` if a change of the tables during the request permits both. */
export type Verdict = 'granted' | 'rejected' | 'either';

/** Creates functions that compute the expected outcomes. An introspection that returns `"active": true` counts as granted. */
export function makeVerdicts(states: States, locks: LockModel, endsOf: SessionEnds) {
  return { verdictOf, tokenStatesOf };

  function verdictOf(request: TokenRequest): Verdict {
    const { endpoint, form } = request;
    if (endpoint === 'revoke') return combine(callersOf(request).map(isEnabled));
    if (endpoint === 'introspect') return introspection(request, form.token ?? '');
    return form.grant_type === 'password' ? login(request) : refresh(request);
  }

  function login(request: TokenRequest): Verdict {
    const { username = '', password = '', scope } = request.form;
    const isGranted = callersOf(request).flatMap(client =>
      states.credentials(request, username).flatMap(credential => {
        if (!credential || !isPasswordOf(password, credential.passwordHash)) return [false];
        const users = states.users(request, credential.userId);
        return users.map(user => mayLogIn(client, credential, user) && hasScope(client, user, scope));
      }),
    );
    const limits = [locks.lockOf(request), locks.limitOf(request)];
    if (limits.includes('always')) return 'rejected';
    return limits.includes('sometimes') ? combine([...isGranted, false]) : combine(isGranted);
  }

  function refresh(request: TokenRequest): Verdict {
    const tokenStates = tokenStatesOf(request, request.form.refresh_token ?? '', request.form.client_id);
    const isUsable = tokenStates.map(state => state === 'current' || state === 'previous');
    const mayRefreshHere = callersOf(request).map(client => client?.status === 'enabled' && mayRefresh(client));
    return combine(isUsable.flatMap(is => mayRefreshHere.map(may => is && may)));
  }

  function introspection(request: TokenRequest, token: string): Verdict {
    const isAllowed = callersOf(request).map(isEnabled);
    if (readRefreshToken(token)) {
      const current = tokenStatesOf(request, token, request.form.client_id).map(state => state === 'current');
      const mayBeUsed = callersOf(request).map(client => client !== undefined && mayRefresh(client));
      return combine(isAllowed.flatMap(allowed => current.flatMap(is => mayBeUsed.map(may => allowed && is && may))));
    }
    const claims = claimsOf(token);
    if (!claims || claims.client_id !== request.form.client_id) return 'rejected';
    const isTokenActive = sessionsOf(request, String(claims.sid)).flatMap(({ session, isActive }) =>
      timesOf(request).map(now => isActive && now < Number(claims.exp) * 1_000 && isUnexpired(session, now)),
    );
    return combine(isAllowed.flatMap(allowed => isTokenActive.map(is => allowed && is)));
  }

  /** Returns the possible states of a refresh token during a request. */
  function tokenStatesOf(request: TokenRequest, text: string, clientId = ''): readonly TokenState[] {
    const token = readRefreshToken(text);
    if (!token) return ['invalid'];
    return sessionsOf(request, token.sessionId).flatMap(({ session, client, isActive }) => {
      if (!isActive || !session || !client || session.clientId !== clientId) return ['invalid'];
      return timesOf(request).map(now => tokenStateOf(token, session, client, now));
    });
  }

  function sessionsOf(request: TokenRequest, sessionId: string): readonly Candidate[] {
    return states.sessions(request, sessionId).flatMap((session): readonly Candidate[] => {
      if (!session) return [{ isActive: false }];
      const users = states.users(request, session.userId);
      const ends = endsOf(session, request);
      return states.clients(request, session.clientId).flatMap(client => {
        const activeStates = users.flatMap(user => ends.map(isEnded => !isEnded && mayContinue(session, client, user)));
        return activeStates.map(isActive => ({ session, client, isActive }));
      });
    });
  }

  function callersOf(request: TokenRequest): readonly (Client | undefined)[] {
    return states.clients(request, request.form.client_id ?? '');
  }
}

/** The state of a refresh token in a session that continues. */
type TokenState =
  | 'current'
  /** The predecessor of the current token, within the grace period. */
  | 'previous'
  /** A token that was already exchanged. Presenting it counts as reuse. */
  | 'used'
  /** A token that is invalid or expired. */
  | 'invalid';

/** A possible state of a session and its client. `isActive` is true if the session may continue. */
interface Candidate {
  readonly session?: Session;
  readonly client?: Client | undefined;
  readonly isActive: boolean;
}

function combine(possibilities: readonly boolean[]): Verdict {
  if (possibilities.every(isGranted => isGranted)) return 'granted';
  return possibilities.some(isGranted => isGranted) ? 'either' : 'rejected';
}

function isEnabled(client: Client | undefined): boolean {
  return client?.status === 'enabled';
}

function mayLogIn(client: Client | undefined, credential: Credential, user: User | undefined): boolean {
  if (!client || !isEnabled(client) || !client.grants.includes('password') || user?.status !== 'enabled') return false;
  const isOwn = user.email === credential.email && user.credentialVersion === credential.credentialVersion;
  return isOwn && (client.accountId === undefined || client.accountId === user.accountId);
}

function hasScope(client: Client | undefined, user: User | undefined, scope: string | undefined): boolean {
  return scope === undefined || !client || !user || scopeOf(client, user, scope) !== '';
}

function mayContinue(session: Session, client: Client | undefined, user: User | undefined): boolean {
  return isEnabled(client) && user?.status === 'enabled' && session.revokedAt === undefined;
}

function isUnexpired(session: Session | undefined, now: number): boolean {
  return session !== undefined && now < session.idleExpiresAt && now < session.absoluteExpiresAt;
}

/** Returns the state of a refresh token, according to the contract. */
function tokenStateOf(token: RefreshTokenContent, session: Session, client: Client, now: number): TokenState {
  if (now >= session.idleExpiresAt || now >= session.absoluteExpiresAt || token.counter > session.counter)
    return 'invalid';
  if (token.counter === session.counter) return token.keyId === session.keyId ? 'current' : 'invalid';
  const isInGrace = now < session.rotatedAt + client.graceSeconds * 1_000;
  return token.counter === session.counter - 1 && isInGrace ? 'previous' : 'used';
}
