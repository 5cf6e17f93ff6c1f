import type { RecordKeys } from '../../platform/aws/batch-get.ts';
import type { Item } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Refuse } from '../oauth-error.ts';
import { type Client, clientKey, matchingSecret, parseClient } from '../principals/client.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { IpRateLimit } from '../protection/rate-limit.ts';
import type { FormRefusal } from '../routes.ts';
import { type ClientCredentials, claimedClientId } from './client-credentials.ts';

export type ClientAuthentication = ReturnType<typeof makeClientAuthentication>;

/**
 * Makes the client authentication that all endpoints share (RFC 6749 section 2.3, RFC 7009 section 2.1, RFC 7662 section 2.1). The
 * limit of an IP address only changes how a failure is reported: it never refuses right credentials, since strangers may share the
 * address.
 */
export function makeClientAuthentication({
  table,
  ipRateLimit,
  now,
}: {
  /** The table `Clients`. */
  readonly table: string;
  readonly ipRateLimit: IpRateLimit;
  readonly now: Clock;
}) {
  return { keysToRead, authenticate };

  /** Returns the keys of the records to read, in one call with what else the request needs. */
  function keysToRead(credentials: ClientCredentials, { ip }: AuditContext): RecordKeys<keyof ClientRecords> {
    const clientId = claimedClientId(credentials);
    return {
      ipFailures: ipRateLimit.keyOf(ip),
      client: clientId === undefined ? undefined : clientKey(table, clientId),
    };
  }

  /**
   * @throws {OAuthError} 400 or 401; a 401 counts as a failure of the caller's IP address. Beyond its limit what would be a
   * 401 is a 429, and nothing is written.
   */
  async function authenticate(
    credentials: ClientCredentials,
    records: ClientRecords,
    auditContext: AuditContext,
    refuse: Refuse<FormRefusal>,
  ): Promise<Client> {
    const judgement = judge(credentials, records, auditContext);
    if (judgement.outcome === 'accepted') return judgement.client;
    const error = refuse(judgement.oauthCase, { reason: judgement.reason });
    if (error.status !== 401) throw error;
    const retryAfterSeconds = await ipRateLimit.countIfRoom(auditContext.ip, records.ipFailures);
    throw retryAfterSeconds === undefined ? error : refuse('ip_rate_limit', { retryAfterSeconds });
  }

  function judge(credentials: ClientCredentials, records: ClientRecords, auditContext: AuditContext): Judgement {
    if (credentials.outcome === 'unusable') {
      const { oauthCase } = credentials;
      return { outcome: 'refused', oauthCase, reason: oauthCase };
    }
    const client = parseClient(records.client);
    if (client) auditContext.clientId = client.clientId;
    const secret = matchingSecret(client, credentials.clientSecret, now()); // before any refusal: constant time
    if (!client) return refusedFor('client_unknown');
    if (!secret) return refusedFor('client_secret_wrong');
    if (client.status !== 'enabled') return refusedFor('client_disabled');
    auditContext.secretOf = new Date(secret.createdAt).toISOString();
    return { outcome: 'accepted', client };
  }
}

type Judgement =
  | { readonly outcome: 'accepted'; readonly client: Client }
  | { readonly outcome: 'refused'; readonly oauthCase: FormRefusal; readonly reason: string };

/** Returns one refusal for all reasons (RFC 6749 section 5.2); the reason goes to the audit trail alone. */
function refusedFor(reason: string): Judgement {
  return { outcome: 'refused', oauthCase: 'client_refused', reason };
}

interface ClientRecords {
  readonly client?: Item | undefined;
  readonly ipFailures?: Item | undefined;
}
