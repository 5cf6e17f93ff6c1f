import type { Scope } from '../principals/scope.ts';
import type { Role } from '../principals/user.ts';
import { type AccessTokenVerificationDependencies, makeAccessTokenVerification } from './access-token.ts';
import { type ActiveSessionDependencies, makeSessionReading } from './active-session.ts';

/** On whose behalf a request is made. */
export interface Principal {
  readonly clientId: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly accountId: string;
  readonly role: Role;
  /** The token's scopes as far as the role has them today. */
  readonly scopes: ReadonlySet<Scope>;
}

/** Finds out on whose behalf a request with this Authorization header is made. */
export type BearerAuthentication = (authorization: string | undefined) => Promise<BearerOutcome>;

/** What bearer authentication stands on. */
export type BearerDependencies = AccessTokenVerificationDependencies & ActiveSessionDependencies;

/** Makes the bearer authentication (RFC 6750 section 2.1): the token is verified, then its session read afresh. */
export function makeBearerAuthentication(dependencies: BearerDependencies): BearerAuthentication {
  const verify = makeAccessTokenVerification(dependencies);
  const readSession = makeSessionReading(dependencies);

  return async function bearerAuthentication(authorization) {
    const header = bearerHeader.exec(authorization?.trim() ?? '');
    if (!header) return { outcome: 'missing' };
    const claims = await verify(header[1] ?? '');
    const active = claims && (await readSession(claims));
    if (!active) return { outcome: 'invalid' };
    const { client, user, session, scopes } = active;
    const { clientId } = client;
    const { userId, accountId, role } = user;
    return {
      outcome: 'authenticated',
      principal: { clientId, userId, sessionId: session.sessionId, accountId, role, scopes },
    };
  };
}

/**
 * What an Authorization header amounts to: `missing` when it brings no bearer token at all (RFC 6750 section 3.1: the
 * challenge then names no error), `invalid` when it brings one that opens nothing.
 */
type BearerOutcome =
  | { readonly outcome: 'authenticated'; readonly principal: Principal }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'invalid' };

const bearerHeader = /^bearer(?:[\t ]+(.*))?$/i;
