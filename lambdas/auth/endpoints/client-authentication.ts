import type { RecordKeys } from '../../platform/aws/batch-get.ts';
import type { Item } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import type { OAuthError, Refuse } from '../oauth-error.ts';
import { type Client, clientKey, matchingSecret, parseClient } from '../principals/client.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { FormRefusal } from '../routes.ts';
import { type ClientCredentials, claimedClientId } from './client-credentials.ts';

export type ClientAuthentication = ReturnType<typeof makeClientAuthentication>;

/** Creates the client authentication of all endpoints (RFC 6749 section 2.3, RFC 7009 section 2.1, RFC 7662 section 2.1). */
export function makeClientAuthentication({
  table,
  now,
}: {
  /** The table `Clients`. */
  readonly table: string;
  readonly now: Clock;
}) {
  return { keysToRead, authenticate };

  /** Returns the key of the client's record. The caller reads it together with the request's other records. */
  function keysToRead(credentials: ClientCredentials): RecordKeys<keyof ClientRecords> {
    const clientId = claimedClientId(credentials);
    return { client: clientId === undefined ? undefined : clientKey(table, clientId) };
  }

  /** Returns the authenticated client. @throws {OAuthError} 400 or 401. */
  function authenticate(
    credentials: ClientCredentials,
    records: ClientRecords,
    auditContext: AuditContext,
    refuse: Refuse<FormRefusal>,
  ): Client {
    if (credentials.outcome === 'unusable') {
      throw refuse(credentials.oauthCase, { reason: credentials.oauthCase });
    }
    const client = parseClient(records.client);
    if (client) auditContext.clientId = client.clientId;
    const secret = matchingSecret(client, credentials.clientSecret, now()); // compared before any rejection, to take constant time
    if (!client) throw refused('client_unknown', refuse);
    if (!secret) throw refused('client_secret_wrong', refuse);
    if (client.status !== 'enabled') throw refused('client_disabled', refuse);
    auditContext.secretOf = new Date(secret.createdAt).toISOString();
    return client;
  }
}

interface ClientRecords {
  readonly client?: Item | undefined;
}

/** Returns the same error for all reasons (RFC 6749 section 5.2). Only the audit trail contains the reason. */
function refused(reason: string, refuse: Refuse<FormRefusal>): OAuthError {
  return refuse('client_refused', { reason });
}
