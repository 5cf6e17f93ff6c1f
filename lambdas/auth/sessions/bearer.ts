import type { Scope } from '../principals/scope.ts';
import type { Role } from '../principals/user.ts';
import { type AccessTokenVerificationDependencies, makeAccessTokenVerification } from './access-token.ts';
import { type ActiveSessionDependencies, makeActiveSessionReader } from './active-session.ts';

/** The client and user on whose behalf a request is made. */
export interface Principal {
  readonly clientId: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly accountId: string;
  readonly role: Role;
  /** The token's scopes that the role and the client still have. */
  readonly scopes: ReadonlySet<Scope>;
}

export type BearerAuthentication = (authorization: string | undefined) => Promise<BearerOutcome>;

/** Creates bearer authentication (RFC 6750 section 2.1). It verifies the token and then reads its session without a cache. */
export function makeBearerAuthentication(
  dependencies: AccessTokenVerificationDependencies & ActiveSessionDependencies,
): BearerAuthentication {
  const verifyAccessToken = makeAccessTokenVerification(dependencies);
  const readActiveSession = makeActiveSessionReader(dependencies);

  return async function authenticateBearer(authorization) {
    const header = bearerHeader.exec(authorization?.trim() ?? '');
    if (!header) return { outcome: 'missing' };
    const [, token = ''] = header;
    const claims = await verifyAccessToken(token);
    const active = claims && (await readActiveSession(claims));
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
 * The outcome of an authentication. It is `missing` if the header contains no bearer token, and the challenge then contains no error
 * (RFC 6750 section 3.1). It is `invalid` if the token is malformed, expired or revoked.
 */
type BearerOutcome =
  | { readonly outcome: 'authenticated'; readonly principal: Principal }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'invalid' };

const bearerHeader = /^bearer[\t ]+([^\t ].*)$/i;
