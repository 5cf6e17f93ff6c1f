import { readRefreshToken } from '../../../../lambdas/auth/sessions/refresh-token.ts';
import { parseSession, sessionKey } from '../../../../lambdas/auth/sessions/session.ts';
import type { Violate } from '../../invariants/violation.ts';
import { claimsOf } from '../access-tokens.ts';
import { tokensOf } from '../journal.ts';
import type { Evidence } from './evidence.ts';

/** Checks the rotation of refresh tokens. A token has one successor, and its reuse or revocation ends the session. */
export function checkRotation(evidence: Evidence, violate: Violate): void {
  checkCounters(evidence, violate);
  checkSuccessors(evidence, violate);
  checkEnds(evidence, violate);
}

function checkCounters({ world }: Evidence, violate: Violate): void {
  for (const { before, item, key } of world.watched.writesOf('Sessions')) {
    const [earlier, later] = [parseSession(before), parseSession(item)];
    if (!earlier || !later) continue;
    const id = String(key.sessionId);
    const steps = later.counter - earlier.counter;
    if (steps !== 0 && steps !== 1) violate(`a counter increased by ${steps}`, id);
    if (earlier.revokedAt !== undefined && (steps !== 0 || later.revokedAt !== earlier.revokedAt)) {
      violate('a revoked session was changed', id);
    }
  }
}

function checkSuccessors({ requests }: Evidence, violate: Violate): void {
  const successors = new Map<string, string>();
  for (const request of requests) {
    const [presentedToken, successor] = [request.form.refresh_token, tokensOf(request)?.refresh_token];
    if (presentedToken === undefined || successor === undefined) continue;
    const known = successors.get(presentedToken) ?? successor;
    if (known !== successor) violate('a refresh token has two successors', request.id);
    successors.set(presentedToken, known);
    const [from, to] = [readRefreshToken(presentedToken), readRefreshToken(successor)];
    if (from?.sessionId !== to?.sessionId || from?.counter !== Number(to?.counter) - 1) {
      violate('a successor is not the next token of the session', request.id);
    }
  }
}

/** Checks that the revocation or reuse of a token ends its session. */
function checkEnds({ world, requests, verdicts, states }: Evidence, violate: Violate): void {
  for (const request of requests) {
    const { id, endpoint, form, response, endedAt = 0 } = request;
    if (!response || response.status >= 500) continue;
    const revokedId = endpoint === 'revoke' && response.status === 200 ? sessionIdIn(form.token) : undefined;
    const isUsed = () =>
      verdicts.tokenStatesOf(request, form.refresh_token ?? '', form.client_id).every(is => is === 'used');
    const isAllowed = () =>
      states.clients(request, form.client_id ?? '').every(client => client?.grants.includes('refresh_token'));
    const reusedId =
      form.refresh_token !== undefined && isUsed() && isAllowed() ? sessionIdIn(form.refresh_token) : undefined;
    const endedId = revokedId ?? reusedId;
    if (endedId === undefined) continue;
    const session = parseSession(world.watched.itemAt('Sessions', sessionKey('Sessions', endedId).key, endedAt));
    if (session && session.revokedAt === undefined) {
      violate(revokedId !== undefined ? 'session not ended after revocation' : 'session not ended after reuse', id);
    }
  }
}

/** Returns the session id in a refresh token or access token. */
function sessionIdIn(token = ''): string | undefined {
  const sessionId = readRefreshToken(token)?.sessionId ?? claimsOf(token)?.sid;
  return typeof sessionId === 'string' ? sessionId : undefined;
}
