import type { RecordKeys } from '../../platform/aws/batch-get.ts';
import type { Item } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import type { MakeOAuthError, OAuthError } from '../oauth-error.ts';
import { type Client, clientKey, matchingSecret, parseClient } from '../principals/client.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { FormCase } from '../routes.ts';
import { type ClientCredentials, claimedClientId } from './client-credentials.ts';

export type ClientAuthentication = ReturnType<typeof makeClientAuthentication>;

/** Creates client authentication for the OAuth endpoints (RFC 6749 section 2.3, RFC 7009 section 2.1, RFC 7662 section 2.1). */
export function makeClientAuthentication({
  table,
  now,
}: {
  /** The table `Clients`. */
  readonly table: string;
  readonly now: Clock;
}) {
  return { keysToRead, authenticate };

  /** Returns the key of the client's record. The caller reads the record together with the request's other records. */
  function keysToRead(credentials: ClientCredentials): RecordKeys<keyof ClientRecords> {
    const clientId = claimedClientId(credentials);
    return { client: clientId === undefined ? undefined : clientKey(table, clientId) };
  }

  /** Returns the authenticated client. @throws {OAuthError} 400 or 401. */
  function authenticate(
    credentials: ClientCredentials,
    records: ClientRecords,
    auditContext: AuditContext,
    makeError: MakeOAuthError<FormCase>,
  ): Client {
    if (credentials.outcome === 'unusable') {
      throw makeError(credentials.oauthCase, { reason: credentials.oauthCase });
    }
    const client = parseClient(records.client);
    if (client) auditContext.clientId = client.clientId;
    const secret = matchingSecret(client, credentials.clientSecret, now()); // before any rejection, so timing does not reveal the reason
    if (!client) throw authenticationError('client_unknown', makeError);
    if (!secret) throw authenticationError('client_secret_wrong', makeError);
    if (client.status !== 'enabled') throw authenticationError('client_disabled', makeError);
    auditContext.secretCreatedAt = new Date(secret.createdAt).toISOString();
    return client;
  }
}

interface ClientRecords {
  readonly client?: Item | undefined;
}

/** Returns the same error for all reasons (RFC 6749 section 5.2). Only the audit trail contains the reason. */
function authenticationError(reason: string, makeError: MakeOAuthError<FormCase>): OAuthError {
  return makeError('client_rejected', { reason });
}
