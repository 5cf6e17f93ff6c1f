import { readRecords } from '../../platform/aws/batch-get.ts';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { HttpRequest } from '../../platform/http.ts';
import { type Parameters, readFormRequest } from '../form-request.ts';
import type { MakeGrantError, PreparedGrant } from '../grants/grant.ts';
import type { Grants } from '../grants/grants.ts';
import type { MakeOAuthError } from '../oauth-error.ts';
import { type Client, type GrantType, grantTypes } from '../principals/client.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { TokenResponse } from '../responses.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { claimedClientId, clientCredentials } from './client-credentials.ts';
import { type EndpointParts, type MakeEndpointError, makeOAuthEndpoint } from './oauth-endpoint.ts';

/** Creates the token endpoint (RFC 6749 section 3.2). */
export function makeTokenEndpoint({ dynamo, clientAuthentication, grants, log, count }: TokenEndpointParts) {
  return makeOAuthEndpoint({ endpoint: 'token', log, count, handle: issueToken });

  /**
   * Issues tokens. The order of the checks determines which error takes precedence. Preparing the grant before authenticating the client
   * allows one round trip to read the records of both.
   */
  async function issueToken(
    request: HttpRequest,
    auditContext: AuditContext,
    makeError: MakeEndpointError<'token'>,
  ): Promise<TokenResponse> {
    const parameters = readFormRequest(request, makeError);
    const grantType = requireGrantType(parameters, makeError);
    if (isSupported(grantType)) auditContext.grant = grantType;

    const credentials = clientCredentials(request.headers.authorization, parameters);
    const clientId = claimedClientId(credentials);
    const preparation = await prepareGrant(grants, grantType, parameters, makeError, clientId);
    const records = await readRecords(dynamo, {
      ...preparation?.grant?.keysToRead,
      ...clientAuthentication.keysToRead(credentials),
    });

    const client = clientAuthentication.authenticate(credentials, records, auditContext, makeError);
    requireAllowed(client, requireSupported(grantType, makeError), makeError);
    return requirePrepared(preparation, makeError).issue({ client, records, auditContext, makeError });
  }
}

interface TokenEndpointParts extends EndpointParts {
  readonly dynamo: Dynamo;
  readonly clientAuthentication: ClientAuthentication;
  readonly grants: Grants;
}

function requireGrantType(parameters: Parameters, makeError: MakeOAuthError<'grant_type_missing'>): string {
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw makeError('grant_type_missing');
  return grantType;
}

function isSupported(grantType: string): grantType is GrantType {
  return grantTypes.some(supported => supported === grantType);
}

/** Prepares a grant before client authentication. Returns an error instead of throwing it, because client errors take precedence. */
async function prepareGrant(
  grants: Grants,
  grantType: string,
  parameters: Parameters,
  makeError: MakeGrantError,
  clientId: string | undefined,
): Promise<Preparation | undefined> {
  if (clientId === undefined || !isSupported(grantType)) return undefined;
  try {
    return { grant: await grants[grantType].prepare(parameters, makeError, clientId) };
  } catch (error) {
    return { grant: undefined, error };
  }
}

type Preparation = { readonly grant: PreparedGrant } | { readonly grant: undefined; readonly error: unknown };

function requireSupported(grantType: string, makeError: MakeOAuthError<'grant_unsupported'>): GrantType {
  if (!isSupported(grantType)) throw makeError('grant_unsupported');
  return grantType;
}

function requireAllowed(client: Client, grantType: GrantType, makeError: MakeOAuthError<'grant_not_allowed'>): void {
  if (!client.grants.includes(grantType)) throw makeError('grant_not_allowed');
}

function requirePrepared(preparation: Preparation | undefined, makeError: MakeGrantError): PreparedGrant {
  if (!preparation) throw makeError('grant_unsupported');
  if (!preparation.grant) throw preparation.error;
  return preparation.grant;
}
