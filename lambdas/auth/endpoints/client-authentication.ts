import type { Clock } from '../../platform/clock.ts';
import type { Item, ItemKey } from '../../platform/dynamo.ts';
import { OAuthError } from '../oauth-error.ts';
import { type Client, clientKey, isClientId, matchesClientSecret, parseClient } from '../principals/client.ts';
import type { AuditContext } from '../protection/audit.ts';
import type { FailureLimit } from '../protection/rate-limit.ts';
import type { ClientCredentials } from './client-credentials.ts';

/** Finds out whether a client is who it says it is, and slows down whoever keeps failing. */
export interface ClientAuthentication {
  /** What to read, together with whatever else the request needs. */
  reads(presented: ClientCredentials, auditContext: AuditContext): Record<keyof ClientRecords, ItemKey | undefined>;
  /** @throws {OAuthError} 429 when too many authentications failed from the caller's address. */
  limitIp(records: ClientRecords): void;
  /** @throws {OAuthError} */
  authenticate(presented: ClientCredentials, records: ClientRecords, auditContext: AuditContext): Promise<Client>;
}

/** What client authentication stands on. */
export interface ClientAuthenticationDependencies {
  readonly clientsTable: string;
  readonly ipRateLimit: FailureLimit;
  readonly now: Clock;
}

/** Makes the client authentication all endpoints share (RFC 6749 section 2.3, RFC 7009 section 2.1, RFC 7662 section 2.1). */
export function makeClientAuthentication(dependencies: ClientAuthenticationDependencies): ClientAuthentication {
  const { clientsTable, ipRateLimit, now } = dependencies;

  const verify = (presented: ClientCredentials, records: ClientRecords, auditContext: AuditContext): Client => {
    if (presented.outcome === 'unusable') throw new OAuthError(presented.oauthCase);
    const client = parseClient(records.client);
    if (client) auditContext.clientId = client.clientId;
    const isMatch = matchesClientSecret(client, presented.clientSecret, now());
    if (!client) throw new OAuthError('client_refused', { reason: 'client_unknown' });
    if (!isMatch) throw new OAuthError('client_refused', { reason: 'client_secret_wrong' });
    if (client.status !== 'enabled') throw new OAuthError('client_refused', { reason: 'client_disabled' });
    return client;
  };

  return {
    reads: (presented, auditContext) => ({
      ipFailures: ipRateLimit.keyOf(auditContext.address),
      client:
        presented.outcome === 'presented' && isClientId(presented.clientId)
          ? clientKey(clientsTable, presented.clientId)
          : undefined,
    }),

    limitIp: records => {
      const retryAfterSeconds = ipRateLimit.secondsToWait(records.ipFailures);
      if (retryAfterSeconds !== undefined) throw new OAuthError('address_limit', { retryAfterSeconds });
    },

    authenticate: async (presented, records, auditContext) => {
      try {
        return verify(presented, records, auditContext);
      } catch (error) {
        if (error instanceof OAuthError && error.status === 401) await ipRateLimit.count(auditContext.address);
        throw error;
      }
    },
  };
}

/** What was read to authenticate a client. */
interface ClientRecords {
  readonly client?: Item | undefined;
  readonly ipFailures?: Item | undefined;
}
