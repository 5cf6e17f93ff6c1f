import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readRecords } from '../../platform/batch-get.ts';
import type { Clock } from '../../platform/clock.ts';
import { OAuthError } from '../oauth-error.ts';
import { type Client, clientKey, parseClient } from '../principals/client.ts';
import { commonScopes, formatScope, scopesAllowed, storedScope } from '../principals/scope.ts';
import { parseUser, userKey } from '../principals/user.ts';
import type { AccessTokenClaims, AccessTokenRealm } from '../sessions/access-token.ts';
import { type AuthorizedSession, activeSession, type SessionTables } from '../sessions/active-session.ts';
import type { PresentedRefreshToken } from '../sessions/refresh-token.ts';
import { parseSession, sessionKey } from '../sessions/session.ts';
import type { AuthenticatedForm } from './authenticated-form.ts';
import type { Answer } from './oauth-endpoint.ts';

/** What introspection stands on. */
export interface IntrospectEndpointDependencies extends AccessTokenRealm {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tables: SessionTables;
  readonly readForm: (...request: Parameters<Answer>) => Promise<AuthenticatedForm>;
  readonly verifyAccessToken: (token: string) => Promise<AccessTokenClaims | undefined>;
  readonly readSession: (claims: AccessTokenClaims) => Promise<AuthorizedSession | undefined>;
  readonly verifyRefreshToken: (token: string) => Promise<PresentedRefreshToken | undefined>;
  readonly now: Clock;
}

/** Token introspection (RFC 7662), for access tokens and refresh tokens alike; `token_type_hint` is not needed. */
export function makeIntrospectEndpoint(dependencies: IntrospectEndpointDependencies): Answer {
  const { dynamo, tables, issuer, audience, verifyAccessToken, readSession, verifyRefreshToken, now } = dependencies;

  const describeAccessToken = async (claims: AccessTokenClaims, caller: Client): Promise<object> => {
    const active = maySee(caller, claims.client_id) ? await readSession(claims) : undefined;
    if (!active) return inactive;
    const { scope: _, ...others } = claims;
    const scope = formatScope(active.scopes);
    return {
      active: true,
      token_type: 'Bearer',
      ...(scope === '' ? {} : { scope }),
      ...others,
      iss: issuer,
      aud: audience,
    };
  };

  const describeRefreshToken = async (token: PresentedRefreshToken, caller: Client): Promise<object> => {
    const records = await readRecords(dynamo, {
      user: userKey(tables.users, token.userId),
      session: sessionKey(tables.sessions, token.sessionId),
    });
    const session = parseSession(records.session);
    if (!session || !maySee(caller, session.clientId)) return inactive;
    const address = clientKey(tables.clients, session.clientId);
    const client =
      session.clientId === caller.clientId
        ? caller
        : parseClient((await readRecords(dynamo, { client: address })).client);
    const active = activeSession(client, parseUser(records.user), session, now());
    const isCurrent = token.counter === session.counter && token.keyId === session.keyId;
    if (!active || !isCurrent) return inactive;
    const scope = formatScope(commonScopes(storedScope(session.scope), scopesAllowed(active.client, active.user)));
    return {
      active: true,
      ...(scope === '' ? {} : { scope }),
      client_id: session.clientId,
      sub: session.userId,
      account_id: session.accountId,
      sid: session.sessionId,
      iss: issuer,
      iat: Math.floor(session.rotatedAt / 1_000),
      exp: Math.floor(Math.min(session.idleExpiresAt, session.absoluteExpiresAt) / 1_000),
    };
  };

  const describeToken = async (token: string, caller: Client): Promise<object> => {
    const refreshToken = await verifyRefreshToken(token);
    if (refreshToken) return describeRefreshToken(refreshToken, caller);
    const claims = await verifyAccessToken(token);
    return claims ? describeAccessToken(claims, caller) : inactive;
  };

  return async function introspectEndpoint(request, auditContext) {
    const { client, parameters } = await dependencies.readForm(request, auditContext);
    const token = parameters.get('token');
    if (token === undefined) throw new OAuthError('token_missing');
    const description = await describeToken(token, client);
    if (description === inactive) auditContext.reason = 'token_inactive';
    return description;
  };
}

function maySee(caller: Client, clientId: string): boolean {
  return caller.introspect || caller.clientId === clientId;
}

/** All that is ever said of a token that is expired, revoked, malformed or none of the caller's business (RFC 7662 section 2.2). */
const inactive = { active: false };
