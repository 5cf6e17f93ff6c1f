import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Records, readRecords } from '../../platform/batch-get.ts';
import { type Parameters, readFormRequest } from '../form-request.ts';
import type { Grant, PreparedGrant } from '../grants/grant.ts';
import { OAuthError } from '../oauth-error.ts';
import { type Client, type GrantType, grantTypes, isClientId } from '../principals/client.ts';
import type { FailureLimit } from '../protection/rate-limit.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { clientCredentials } from './client-credentials.ts';
import type { Answer } from './oauth-endpoint.ts';

/** What the token endpoint stands on. */
export interface TokenEndpointDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly authentication: ClientAuthentication;
  readonly clientRateLimit: FailureLimit;
  readonly grants: Grants;
}

/**
 * The token endpoint (RFC 6749 section 3.2), step by step in the order in which faults are told. Everything that can be
 * known beforehand is read in one round trip; that is the only reason why a grant is prepared before its turn.
 */
export function makeTokenEndpoint(dependencies: TokenEndpointDependencies): Answer {
  const { dynamo, authentication, clientRateLimit, grants } = dependencies;

  const limitClient = (records: Records<'clientFailures'>): void => {
    const retryAfterSeconds = clientRateLimit.secondsToWait(records.clientFailures);
    if (retryAfterSeconds !== undefined) throw new OAuthError('client_limit', { retryAfterSeconds });
  };

  return async function tokenEndpoint(request, auditContext) {
    const parameters = readFormRequest(request);
    const grantType = requireGrantType(parameters);
    if (isSupported(grantType)) auditContext.grant = grantType;

    const presented = clientCredentials(request.headers.authorization, parameters);
    const claimedId =
      presented.outcome === 'presented' && isClientId(presented.clientId) ? presented.clientId : undefined;
    const preparation =
      claimedId !== undefined && isSupported(grantType)
        ? await prepare(grants[grantType], parameters, claimedId)
        : undefined;
    const records = await readRecords(dynamo, {
      ...(preparation && 'prepared' in preparation ? preparation.prepared.reads : {}),
      ...authentication.reads(presented, auditContext),
      // refused passwords stop further passwords, never a refresh
      clientFailures:
        claimedId === undefined || grantType !== 'password' ? undefined : clientRateLimit.keyOf(claimedId),
    });

    authentication.limitIp(records);
    const client = await authentication.authenticate(presented, records, auditContext);
    limitClient(records);
    requireAllowed(client, requireSupported(grantType));
    return requireParameters(preparation).issue({ client, records, auditContext });
  };
}

/** The table of grants. */
type Grants = Readonly<Record<GrantType, Grant>>;

function requireGrantType(parameters: Parameters): string {
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw new OAuthError('grant_type_missing');
  return grantType;
}

function isSupported(grantType: string): grantType is GrantType {
  return grantTypes.some(known => known === grantType);
}

async function prepare(grant: Grant, parameters: Parameters, clientId: string): Promise<Preparation> {
  try {
    return { prepared: await grant.prepare(parameters, clientId) };
  } catch (fault) {
    return { fault };
  }
}

function requireAllowed(client: Client, grantType: GrantType): void {
  if (!client.grants.includes(grantType)) throw new OAuthError('grant_not_allowed');
}

function requireSupported(grantType: string): GrantType {
  if (!isSupported(grantType)) throw new OAuthError('grant_unsupported');
  return grantType;
}

function requireParameters(preparation: Preparation | undefined): PreparedGrant {
  if (!preparation) throw new OAuthError('grant_unsupported');
  if ('fault' in preparation) throw preparation.fault;
  return preparation.prepared;
}

/** A prepared grant, or what went wrong with it, which waits until everything about the client is settled. */
type Preparation = { readonly prepared: PreparedGrant } | { readonly fault: unknown };
