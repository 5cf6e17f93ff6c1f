import type { RecordKeys } from '../../platform/aws/batch-get.ts';
import type { Item } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import { OAuthError } from '../oauth-error.ts';
import { type Client, clientKey, matchingSecret, parseClient } from '../principals/client.ts';
import type { SecretUse } from '../principals/secret-use.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { IpRateLimit } from '../protection/rate-limit.ts';
import { type ClientCredentials, claimedClientId } from './client-credentials.ts';

/** Authenticates the clients of all endpoints. */
export type ClientAuthentication = ReturnType<typeof makeClientAuthentication>;

/**
 * Makes the client authentication that all endpoints share (RFC 6749 section 2.3, RFC 7009 section 2.1, RFC 7662 section 2.1). The
 * limit of an IP address only changes how a failure is reported: it never refuses right credentials, since strangers may share the
 * address.
 */
export function makeClientAuthentication({
  table,
  ipRateLimit,
  secretUse,
  now,
}: {
  /** The table `Clients`. */
  readonly table: string;
  readonly ipRateLimit: IpRateLimit;
  readonly secretUse: SecretUse;
  readonly now: Clock;
}) {
  return { keysToRead, authenticate, settled: secretUse.settled };

  /** Returns the keys of the records to read, in one call with what else the request needs. */
  function keysToRead(credentials: ClientCredentials, { ip }: AuditContext): RecordKeys<keyof ClientRecords> {
    const clientId = claimedClientId(credentials);
    return {
      ipFailures: ipRateLimit.keyOf(ip),
      client: clientId === undefined ? undefined : clientKey(table, clientId),
    };
  }

  /**
   * Returns the client, and begins to note which secret it used: `settled` waits for that.
   *
   * @throws {OAuthError} 400 or 401; a 401 counts as a failure of the caller's IP address. Beyond its limit what would be a
   * 401 is a 429, and nothing is written.
   */
  async function authenticate(credentials: ClientCredentials, records: ClientRecords, auditContext: AuditContext) {
    try {
      return requireClient(credentials, records, auditContext);
    } catch (error) {
      if (!(error instanceof OAuthError) || error.status !== 401) throw error;
      const retryAfterSeconds = await ipRateLimit.countIfRoom(auditContext.ip, records.ipFailures);
      throw retryAfterSeconds === undefined ? error : new OAuthError('ip_rate_limit', { retryAfterSeconds });
    }
  }

  function requireClient(credentials: ClientCredentials, records: ClientRecords, auditContext: AuditContext): Client {
    if (credentials.outcome === 'unusable') throw new OAuthError(credentials.oauthCase);
    const client = parseClient(records.client);
    if (client) auditContext.clientId = client.clientId;
    const secret = matchingSecret(client, credentials.clientSecret, now()); // before any refusal: constant time
    if (!client) throw new OAuthError('client_refused', { reason: 'client_unknown' });
    if (!secret) throw new OAuthError('client_refused', { reason: 'client_secret_wrong' });
    if (client.status !== 'enabled') throw new OAuthError('client_refused', { reason: 'client_disabled' });
    auditContext.secretOf = new Date(secret.createdAt).toISOString();
    secretUse.note(client, secret);
    return client;
  }
}

/** The records that client authentication reads. */
interface ClientRecords {
  readonly client?: Item | undefined;
  readonly ipFailures?: Item | undefined;
}
