import { accessTokenSeconds } from '../../../../lambdas/auth/lifetimes.ts';
import type { Session } from '../../../../lambdas/auth/sessions/session.ts';
import type { Violate } from '../../invariants/violation.ts';
import { claimsOf, makeSignatureCheck, scopeOf } from '../access-tokens.ts';
import { timesOf, tokensOf } from '../journal.ts';
import { audience, issuer } from '../token-stage.ts';
import type { Evidence } from './evidence.ts';

/** Checks the scope of each issued or introspected token. Refreshed tokens keep the login's scope, if it is still allowed. */
export function checkScopes({ requests, states }: Evidence, violate: Violate): void {
  const scopes = new Map<unknown, string>();
  for (const request of requests) {
    const { form, response } = request;
    const tokenInfo = response?.body.active === true ? response.body : claimsOf(tokensOf(request)?.access_token ?? '');
    if (!tokenInfo) continue;
    const { scope = '', sid, sub, client_id } = tokenInfo;
    const isLogin = form.grant_type === 'password';
    if (isLogin) scopes.set(sid, String(scope));
    const claims = claimsOf(form.token ?? '');
    const sessionScope = claims ? String(claims.scope ?? '') : scopes.get(sid);
    const requestedScope = isLogin ? form.scope : sessionScope;
    const users = states.users(request, String(sub));
    const allowedScopes = states
      .clients(request, String(client_id))
      .flatMap(client => users.map(user => client && user && scopeOf(client, user, requestedScope)));
    if (!allowedScopes.includes(String(scope)))
      violate(`a token has the scope "${scope}" instead of "${allowedScopes[0]}"`, request.id);
  }
}

/** Checks the signature, the claims and the session of each issued token. */
export function checkAccessTokens({ world, requests, states }: Evidence, violate: Violate): void {
  const isSigned = makeSignatureCheck(world.tables.items('Keyring'));
  const tokenIds = new Set<unknown>();
  for (const request of requests) {
    const tokens = tokensOf(request);
    if (!tokens) continue;
    const { id } = request;
    const claims = claimsOf(tokens.access_token) ?? {};
    if (!isSigned(tokens.access_token)) violate('the signature of an access token is invalid', id);
    if (tokenIds.has(claims.jti)) violate('two access tokens have the same id', id);
    tokenIds.add(claims.jti);
    const [earliest, latest] = timesOf(request);
    const isOnTime = Number(claims.iat) >= Math.floor(earliest / 1_000) && Number(claims.iat) <= latest / 1_000;
    const lifetime = Number(claims.exp) - Number(claims.iat);
    const sessions = states.sessions(request, String(claims.sid));
    if (!isOnTime || !sessions.some(session => session && isValidLifetime(lifetime, Number(claims.exp), session)))
      violate('the times of a token are wrong', id);
    if (tokens.expires_in !== lifetime || tokens.scope !== claims.scope)
      violate('a response differs from its token', id);
    const isRightSession = sessions.some(
      session =>
        session?.userId === claims.sub &&
        session?.clientId === claims.client_id &&
        session?.accountId === claims.account_id,
    );
    if (!isRightSession || claims.client_id !== request.form.client_id) violate('a token has the wrong session', id);
    if (claims.iss !== issuer || claims.aud !== audience) violate('a token has the wrong issuer or audience', id);
    if (tokens.refresh_token !== undefined && !tokens.refresh_token.startsWith(`${claims.sid}.`)) {
      violate('the tokens of a response belong to different sessions', id);
    }
    const mayRefresh = states
      .clients(request, request.form.client_id ?? '')
      .map(client => client?.grants.includes('refresh_token'));
    if (!mayRefresh.includes(tokens.refresh_token !== undefined))
      violate('a refresh token is missing, or its client must not refresh', id);
  }
}

/** Returns whether a token is valid for 900 s or expires with its session. */
function isValidLifetime(life: number, exp: number, { absoluteExpiresAt }: Session): boolean {
  const overrun = exp * 1_000 - absoluteExpiresAt;
  return overrun < 1_000 && (life === accessTokenSeconds || (life < accessTokenSeconds && overrun > -1_000));
}
