import { readRecords } from '../../platform/aws/batch-get.ts';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { HttpRequest } from '../../platform/http.ts';
import type { TokenResponse } from '../answers.ts';
import { type Parameters, readFormRequest } from '../form-request.ts';
import type { PreparedGrant, RefuseGrant } from '../grants/grant.ts';
import type { Grants } from '../grants/grants.ts';
import type { Refuse } from '../oauth-error.ts';
import { type Client, type GrantType, grantTypes } from '../principals/client.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { claimedClientId, clientCredentials } from './client-credentials.ts';
import { type EndpointParts, makeOAuthEndpoint, type RefuseAt } from './oauth-endpoint.ts';

/** Creates the token endpoint (RFC 6749 section 3.2). */
export function makeTokenEndpoint({ dynamo, clientAuthentication, grants, log, count }: TokenEndpointParts) {
  return makeOAuthEndpoint({ endpoint: 'token', log, count, handle: issueToken });

  /**
   * Issues tokens. The checks run in the order in which their errors take precedence. The grant is prepared before the client is
   * authenticated, because one round trip then reads the records of both.
   */
  async function issueToken(
    request: HttpRequest,
    auditContext: AuditContext,
    refuse: RefuseAt<'token'>,
  ): Promise<TokenResponse> {
    const parameters = readFormRequest(request, refuse);
    const grantType = requireGrantType(parameters, refuse);
    if (isSupported(grantType)) auditContext.grant = grantType;

    const credentials = clientCredentials(request.headers.authorization, parameters);
    const clientId = claimedClientId(credentials);
    const preparation = await prepareGrant(grants, grantType, parameters, refuse, clientId);
    const records = await readRecords(dynamo, {
      ...preparation?.grant?.keysToRead,
      ...clientAuthentication.keysToRead(credentials),
    });

    const client = clientAuthentication.authenticate(credentials, records, auditContext, refuse);
    requireAllowed(client, requireSupported(grantType, refuse), refuse);
    return requirePrepared(preparation, refuse).issue({ client, records, auditContext, refuse });
  }
}

interface TokenEndpointParts extends EndpointParts {
  readonly dynamo: Dynamo;
  readonly clientAuthentication: ClientAuthentication;
  readonly grants: Grants;
}

function requireGrantType(parameters: Parameters, refuse: Refuse<'grant_type_missing'>): string {
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw refuse('grant_type_missing');
  return grantType;
}

function isSupported(grantType: string): grantType is GrantType {
  return grantTypes.some(supported => supported === grantType);
}

/** Prepares a grant for an unauthenticated client. Errors of the client take precedence over errors of the grant. */
async function prepareGrant(
  grants: Grants,
  grantType: string,
  parameters: Parameters,
  refuse: RefuseGrant,
  clientId: string | undefined,
): Promise<Preparation | undefined> {
  if (clientId === undefined || !isSupported(grantType)) return undefined;
  try {
    return { grant: await grants[grantType].prepare(parameters, refuse, clientId) };
  } catch (error) {
    return { grant: undefined, error };
  }
}

type Preparation = { readonly grant: PreparedGrant } | { readonly grant: undefined; readonly error: unknown };

function requireSupported(grantType: string, refuse: Refuse<'grant_unsupported'>): GrantType {
  if (!isSupported(grantType)) throw refuse('grant_unsupported');
  return grantType;
}

function requireAllowed(client: Client, grantType: GrantType, refuse: Refuse<'grant_not_allowed'>): void {
  if (!client.grants.includes(grantType)) throw refuse('grant_not_allowed');
}

function requirePrepared(preparation: Preparation | undefined, refuse: Refuse<'grant_unsupported'>): PreparedGrant {
  if (!preparation) throw refuse('grant_unsupported');
  if (!preparation.grant) throw preparation.error;
  return preparation.grant;
}
