import type { Clock } from '../../platform/clock.ts';
import type { Item, ItemAddress } from '../../platform/dynamo.ts';
import { OAuthError } from '../oauth-error.ts';
import { type Client, clientAddress, isClientId, matchesClientSecret, parseClient } from '../principals/client.ts';
import type { Decision } from '../protection/audit.ts';
import type { RateLimit } from '../protection/rate-limit.ts';
import type { PresentedClient } from './client-credentials.ts';

/** Finds out whether a client is who it says it is, and slows down whoever keeps failing. */
export interface ClientAuthentication {
  /** What to read, together with whatever else the request needs. */
  reads(presented: PresentedClient, decision: Decision): Record<keyof ClientRecords, ItemAddress | undefined>;
  /** @throws {OAuthError} 429 when too many authentications failed from the caller's address. */
  limitAddress(records: ClientRecords): void;
  /** @throws {OAuthError} */
  authenticate(presented: PresentedClient, records: ClientRecords, decision: Decision): Promise<Client>;
}

/** What client authentication stands on. */
export interface ClientAuthenticationDependencies {
  readonly clientsTable: string;
  readonly addressLimit: RateLimit;
  readonly now: Clock;
}

/** Makes the client authentication all endpoints share (RFC 6749 section 2.3, RFC 7009 section 2.1, RFC 7662 section 2.1). */
export function makeClientAuthentication(dependencies: ClientAuthenticationDependencies): ClientAuthentication {
  const { clientsTable, addressLimit, now } = dependencies;

  const verify = (presented: PresentedClient, records: ClientRecords, decision: Decision): Client => {
    if (presented.outcome === 'unusable') throw new OAuthError(presented.oauthCase);
    const client = parseClient(records.client);
    if (client) decision.clientId = client.clientId;
    const isMatch = matchesClientSecret(client, presented.clientSecret, now());
    if (!client) throw new OAuthError('client_refused', { reason: 'client_unknown' });
    if (!isMatch) throw new OAuthError('client_refused', { reason: 'client_secret_wrong' });
    if (client.status !== 'enabled') throw new OAuthError('client_refused', { reason: 'client_disabled' });
    return client;
  };

  return {
    reads: (presented, decision) => ({
      addressFailures: addressLimit.countAddress(decision.address),
      client:
        presented.outcome === 'presented' && isClientId(presented.clientId)
          ? clientAddress(clientsTable, presented.clientId)
          : undefined,
    }),

    limitAddress: records => {
      const retryAfterSeconds = addressLimit.secondsToWait(records.addressFailures);
      if (retryAfterSeconds !== undefined) throw new OAuthError('address_limit', { retryAfterSeconds });
    },

    authenticate: async (presented, records, decision) => {
      try {
        return verify(presented, records, decision);
      } catch (error) {
        if (error instanceof OAuthError && error.status === 401) await addressLimit.countFailure(decision.address);
        throw error;
      }
    },
  };
}

/** What was read to authenticate a client. */
interface ClientRecords {
  readonly client?: Item | undefined;
  readonly addressFailures?: Item | undefined;
}
