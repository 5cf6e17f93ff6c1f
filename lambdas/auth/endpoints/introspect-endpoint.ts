import { readRecords } from '../../platform/aws/batch-get.ts';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import type { HttpRequest } from '../../platform/http.ts';
import { type Client, clientKey, mayRefresh, parseClient } from '../principals/client.ts';
import { commonScopes, formatScope, scopesAllowed, storedScope } from '../principals/scope.ts';
import { parseUser, userKey } from '../principals/user.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { Introspection } from '../responses.ts';
import type { AccessTokenClaims } from '../sessions/access-token.ts';
import { type ReadActiveSession, type SessionTables, toActiveSession } from '../sessions/active-session.ts';
import type { PresentedRefreshToken } from '../sessions/refresh-token.ts';
import { parseSession, sessionKey } from '../sessions/session.ts';
import { type EndpointParts, type MakeEndpointError, makeOAuthEndpoint } from './oauth-endpoint.ts';
import type { PresentedToken, ReadPresentedToken } from './presented-token.ts';

/** Creates the introspection endpoint (RFC 7662) for access tokens and refresh tokens. */
export function makeIntrospectEndpoint(parts: IntrospectEndpointParts) {
  const { readPresentedToken, readActiveSession, dynamo, tables, issuer, log, count, now } = parts;
  return makeOAuthEndpoint({ endpoint: 'introspect', log, count, handle: introspectToken });

  async function introspectToken(
    request: HttpRequest,
    auditContext: AuditContext,
    makeError: MakeEndpointError<'introspect'>,
  ): Promise<Introspection> {
    const description = await describeToken(await readPresentedToken(request, auditContext, makeError));
    if (description === inactiveToken) auditContext.reason = 'token_inactive';
    return description;
  }

  async function describeToken({ client, refreshToken, claims }: PresentedToken): Promise<Introspection> {
    if (refreshToken) return describeRefreshToken(refreshToken, client);
    return claims ? describeAccessToken(claims, client) : inactiveToken;
  }

  async function describeRefreshToken(token: PresentedRefreshToken, caller: Client): Promise<Introspection> {
    const records = await readRecords(dynamo, {
      user: userKey(tables.users, token.userId),
      session: sessionKey(tables.sessions, token.sessionId),
    });
    const session = parseSession(records.session);
    if (!session || !maySee(caller, session.clientId)) return inactiveToken;
    const client = await readClient(session.clientId, caller);
    const activeSession = toActiveSession(client, parseUser(records.user), session, now());
    const isCurrent = token.counter === session.counter && token.keyId === session.keyId;
    if (!activeSession || !mayRefresh(activeSession.client) || !isCurrent) return inactiveToken;
    const scope = formatScope(
      commonScopes(storedScope(session.scope), scopesAllowed(activeSession.client, activeSession.user)),
    );
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
  }

  async function readClient(clientId: string, caller: Client): Promise<Client | undefined> {
    if (clientId === caller.clientId) return caller;
    return parseClient((await readRecords(dynamo, { client: clientKey(tables.clients, clientId) })).client);
  }

  async function describeAccessToken(claims: AccessTokenClaims, caller: Client): Promise<Introspection> {
    const activeSession = maySee(caller, claims.client_id) ? await readActiveSession(claims) : undefined;
    if (!activeSession) return inactiveToken;
    const { scope: _, ...others } = claims;
    const scope = formatScope(activeSession.scopes);
    return { active: true, token_type: 'Bearer', ...(scope === '' ? {} : { scope }), ...others };
  }
}

interface IntrospectEndpointParts extends EndpointParts {
  readonly readPresentedToken: ReadPresentedToken;
  readonly readActiveSession: ReadActiveSession;
  readonly dynamo: Dynamo;
  readonly tables: SessionTables;
  readonly issuer: string;
  readonly now: Clock;
}

const inactiveToken: Introspection = { active: false };

function maySee(caller: Client, clientId: string): boolean {
  return caller.introspect || caller.clientId === clientId;
}
