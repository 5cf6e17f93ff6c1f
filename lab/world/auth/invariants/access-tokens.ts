import { accessTokenSeconds } from '../../../../lambdas/auth/lifetimes.ts';
import type { Session } from '../../../../lambdas/auth/sessions/session.ts';
import type { Violate } from '../../invariants/violation.ts';
import { claimsOf, makeSignatureCheck, scopeOf } from '../access-tokens.ts';
import { timesOf, tokensOf } from '../journal.ts';
import { audience, issuer } from '../token-stage.ts';
import type { Evidence } from './evidence.ts';

/** Judges the scope of each granted or shown token. Later tokens have the login's scope, as far as still allowed. */
export function judgeScopes({ requests, states }: Evidence, violate: Violate): void {
  const scopes = new Map<unknown, string>();
  for (const request of requests) {
    const { form, answer } = request;
    const shown = answer?.body.active === true ? answer.body : claimsOf(tokensOf(request)?.access_token ?? '');
    if (!shown) continue;
    const { scope = '', sid, sub, client_id } = shown;
    const isLogin = form.grant_type === 'password';
    if (isLogin) scopes.set(sid, String(scope));
    const claims = claimsOf(form.token ?? '');
    const ofSession = claims ? String(claims.scope ?? '') : scopes.get(sid);
    const asked = isLogin ? form.scope : ofSession;
    const users = states.users(request, String(sub));
    const allowed = states
      .clients(request, String(client_id))
      .flatMap(client => users.map(user => client && user && scopeOf(client, user, asked)));
    if (!allowed.includes(String(scope)))
      violate(`a token has the scope "${scope}" instead of "${allowed[0]}"`, request.id);
  }
}

/** Judges the tokens of each grant. Signatures are valid, claims are correct, and the session is the right one. */
export function judgeAccessTokens({ world, requests, states }: Evidence, violate: Violate): void {
  const isSigned = makeSignatureCheck(world.tables.items('Keyring'));
  const seen = new Set<unknown>();
  for (const request of requests) {
    const tokens = tokensOf(request);
    if (!tokens) continue;
    const { id } = request;
    const claims = claimsOf(tokens.access_token) ?? {};
    if (!isSigned(tokens.access_token)) violate('an access token does not verify', id);
    if (seen.has(claims.jti)) violate('two access tokens have one id', id);
    seen.add(claims.jti);
    const [earliest, latest] = timesOf(request);
    const isOnTime = Number(claims.iat) >= Math.floor(earliest / 1_000) && Number(claims.iat) <= latest / 1_000;
    const life = Number(claims.exp) - Number(claims.iat);
    const sessions = states.sessions(request, String(claims.sid));
    if (!isOnTime || !sessions.some(session => session && isLife(life, Number(claims.exp), session)))
      violate('the times of a token are wrong', id);
    if (tokens.expires_in !== life || tokens.scope !== claims.scope) violate('an answer and its token differ', id);
    const isTrue = sessions.some(
      session =>
        session?.userId === claims.sub &&
        session?.clientId === claims.client_id &&
        session?.accountId === claims.account_id,
    );
    if (!isTrue || claims.client_id !== request.form.client_id) violate('a token names another session', id);
    if (claims.iss !== issuer || claims.aud !== audience)
      violate('a token is of another issuer, or for another audience', id);
    if (tokens.refresh_token !== undefined && !tokens.refresh_token.startsWith(`${claims.sid}.`)) {
      violate('the two tokens of an answer are of two sessions', id);
    }
    const allowed = states
      .clients(request, request.form.client_id ?? '')
      .map(client => client?.grants.includes('refresh_token'));
    if (!allowed.includes(tokens.refresh_token !== undefined))
      violate('a refresh token for a client that may not refresh, or a missing one', id);
  }
}

/** Returns whether a token lives for its 900 s, or until the second in which its session ends. */
function isLife(life: number, exp: number, { absoluteExpiresAt }: Session): boolean {
  const beyond = exp * 1_000 - absoluteExpiresAt;
  return beyond < 1_000 && (life === accessTokenSeconds || (life < accessTokenSeconds && beyond > -1_000));
}
