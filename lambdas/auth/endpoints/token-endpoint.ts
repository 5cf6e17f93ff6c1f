import { readRecords } from '../../platform/batch-get.ts';
import type { HttpRequest } from '../../platform/http.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import type { TokenResponse } from '../answers.ts';
import type { TokenEnvironmentValues } from '../environment.ts';
import { type Parameters, readFormRequest } from '../form-request.ts';
import { makeSessionBeginning } from '../grants/begin-session.ts';
import type { Grant, PreparedGrant } from '../grants/grant.ts';
import { makePasswordGrant } from '../grants/password.ts';
import { makeTokenPreparation } from '../grants/prepare-tokens.ts';
import { makeRefreshTokenGrant } from '../grants/refresh-token.ts';
import { OAuthError } from '../oauth-error.ts';
import { type Client, type GrantType, grantTypes } from '../principals/client.ts';
import { makeCredentialStore } from '../principals/credential-store.ts';
import type { PasswordHashing } from '../principals/password-hash.ts';
import type { AuditContext } from '../protection/audit.ts';
import { makeLockout } from '../protection/lockout.ts';
import { makeClientRateLimit } from '../protection/rate-limit.ts';
import { makeAccessTokenMint } from '../sessions/access-token.ts';
import { makeSessionLimit } from '../sessions/session-limit.ts';
import { makeSessionStore } from '../sessions/session-store.ts';
import { makeClientAuthentication } from './client-authentication.ts';
import { claimedClientId, clientCredentials } from './client-credentials.ts';
import { type EndpointDependencies, makeOAuthEndpoint } from './oauth-endpoint.ts';

/** Makes the token endpoint (RFC 6749 section 3.2). */
export function makeTokenEndpoint(dependencies: TokenEndpointDependencies) {
  const { dynamo, log, count } = dependencies;
  const { clientAuthentication, grants } = composeParts(dependencies);
  return makeOAuthEndpoint({ endpoint: 'token', log, count, answer: answerTokenRequest });

  /**
   * The steps, in the order in which their errors are reported. Everything that can be known beforehand is read in one
   * round trip. That is the only reason to prepare a grant before authenticating the client.
   */
  async function answerTokenRequest(request: HttpRequest, auditContext: AuditContext): Promise<TokenResponse> {
    const parameters = readFormRequest(request);
    const grantType = requireGrantType(parameters);
    if (isSupported(grantType)) auditContext.grant = grantType;

    const credentials = clientCredentials(request.headers.authorization, parameters);
    const clientId = claimedClientId(credentials);
    const preparation = await prepareGrant(grants, grantType, parameters, clientId);
    const records = await readRecords(dynamo, {
      ...preparation?.grant?.keysToRead,
      ...clientAuthentication.keysToRead(credentials, auditContext),
    });

    const client = await clientAuthentication.authenticate(credentials, records, auditContext);
    requireAllowed(client, requireSupported(grantType));
    return requirePrepared(preparation).issue({ client, records, auditContext });
  }
}

interface TokenEndpointDependencies extends EndpointDependencies<TokenEnvironmentValues> {
  readonly passwords: PasswordHashing;
  readonly makeId: MakeId;
  /** Draws from [0, 1). */
  readonly random: () => number;
}

/** The parts of the token endpoint. A new grant is one entry in the table of grants, and one name in `grantTypes`. */
function composeParts(dependencies: TokenEndpointDependencies) {
  const { environment, dynamo, kms, passwords, log, now, makeId, random } = dependencies;
  const userTables = { users: environment.USERS_TABLE, credentials: environment.CREDENTIALS_TABLE };
  const lockouts = { dynamo, table: environment.LOCKOUTS_TABLE, now };
  const keyring = makeKeyring({ dynamo, kms, table: environment.KEYRING_TABLE, now });
  const mintAccessToken = makeAccessTokenMint({
    keyring,
    issuer: environment.ISSUER,
    audience: environment.AUDIENCE,
    lifetimeSeconds: environment.ACCESS_TOKEN_SECONDS,
    now,
    makeId,
  });
  const sessionsTable = environment.SESSIONS_TABLE;
  const shared = {
    userTables,
    sessions: makeSessionStore({ dynamo, table: sessionsTable }),
    lockout: makeLockout({ ...lockouts, keyring }),
    prepareTokens: makeTokenPreparation({
      keyring,
      mintAccessToken,
      accessTokenSeconds: environment.ACCESS_TOKEN_SECONDS,
    }),
    refreshIdleSeconds: environment.REFRESH_IDLE_SECONDS,
    now,
    makeId,
  };
  const beginSession = makeSessionBeginning({
    ...shared,
    sessionLimit: makeSessionLimit({ dynamo, table: sessionsTable, log, now, random }),
    accessTokenSeconds: environment.ACCESS_TOKEN_SECONDS,
    refreshAbsoluteSeconds: environment.REFRESH_ABSOLUTE_SECONDS,
  });
  const grants: Grants = {
    password: makePasswordGrant({
      ...shared,
      dynamo,
      credentials: makeCredentialStore({ dynamo, table: userTables.credentials, now }),
      passwords,
      clientRateLimit: makeClientRateLimit({ ...lockouts, limit: environment.CLIENT_FAILURE_LIMIT }),
      beginSession,
    }),
    refresh_token: makeRefreshTokenGrant({ ...shared, sessionsTable, keyring }),
  };
  return { clientAuthentication: makeClientAuthentication({ environment, dynamo, now }), grants };
}

type Grants = Readonly<Record<GrantType, Grant>>;

function requireGrantType(parameters: Parameters): string {
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw new OAuthError('grant_type_missing');
  return grantType;
}

function isSupported(grantType: string): grantType is GrantType {
  return grantTypes.some(known => known === grantType);
}

/** Prepares a grant for a client that is not authenticated yet: an error of the grant is reported after those of the client. */
async function prepareGrant(
  grants: Grants,
  grantType: string,
  parameters: Parameters,
  clientId: string | undefined,
): Promise<Preparation | undefined> {
  if (clientId === undefined || !isSupported(grantType)) return undefined;
  try {
    return { grant: await grants[grantType].prepare(parameters, clientId) };
  } catch (error) {
    return { grant: undefined, error };
  }
}

type Preparation = { readonly grant: PreparedGrant } | { readonly grant: undefined; readonly error: unknown };

function requireSupported(grantType: string): GrantType {
  if (!isSupported(grantType)) throw new OAuthError('grant_unsupported');
  return grantType;
}

function requireAllowed(client: Client, grantType: GrantType): void {
  if (!client.grants.includes(grantType)) throw new OAuthError('grant_not_allowed');
}

function requirePrepared(preparation: Preparation | undefined): PreparedGrant {
  if (!preparation) throw new OAuthError('grant_unsupported');
  if (!preparation.grant) throw preparation.error;
  return preparation.grant;
}
