import type { KMSClient } from '@aws-sdk/client-kms';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod/mini';
import type { Clock } from '../../platform/clock.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import type { Log } from '../../platform/telemetry.ts';
import type { introspectEnvironment, revokeEnvironment } from '../environment.ts';
import { makeAudit } from '../protection/audit.ts';
import { makeIpRateLimit } from '../protection/rate-limit.ts';
import { makeAccessTokenVerification } from '../sessions/access-token.ts';
import { makeSessionReading } from '../sessions/active-session.ts';
import { makeRefreshTokenVerification } from '../sessions/refresh-token.ts';
import { makeSessionStore } from '../sessions/session-store.ts';
import { makeAuthenticatedForm } from './authenticated-form.ts';
import { makeClientAuthentication } from './client-authentication.ts';
import { makeIntrospectEndpoint } from './introspect-endpoint.ts';
import { makeOAuthEndpoint } from './oauth-endpoint.ts';
import { makeRevokeEndpoint } from './revoke-endpoint.ts';

/** What the functions that look at tokens stand on: the outside world, and nothing of this service. */
export interface TokenCheckDependencies<Environment> {
  readonly environment: Environment;
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  /** Opens MAC keys only. */
  readonly kms: Pick<KMSClient, 'send'>;
  readonly log: Log;
  /** Adds one to the metric of that name. */
  readonly count: (metric: string) => void;
  readonly now: Clock;
}

/** Puts the revocation function together. */
export function makeRevokeFunction(dependencies: TokenCheckDependencies<z.output<typeof revokeEnvironment>>) {
  const { environment, dynamo, log, count, now } = dependencies;
  return makeOAuthEndpoint({
    endpoint: 'revoke',
    audit: makeAudit({ log, count }),
    log,
    answer: makeRevokeEndpoint({
      ...makeTokenReading(dependencies),
      sessions: makeSessionStore({ dynamo, tableName: environment.SESSIONS_TABLE }),
      now,
    }),
  });
}

/** Puts the introspection function together. */
export function makeIntrospectFunction(dependencies: TokenCheckDependencies<z.output<typeof introspectEnvironment>>) {
  const { environment, dynamo, log, count, now } = dependencies;
  const tables = {
    clients: environment.CLIENTS_TABLE,
    users: environment.USERS_TABLE,
    sessions: environment.SESSIONS_TABLE,
  };
  return makeOAuthEndpoint({
    endpoint: 'introspect',
    audit: makeAudit({ log, count }),
    log,
    answer: makeIntrospectEndpoint({
      ...makeTokenReading(dependencies),
      dynamo,
      tables,
      readSession: makeSessionReading({ dynamo, tables, now }),
      now,
    }),
  });
}

/** What revocation and introspection have in common. */
function makeTokenReading(dependencies: TokenCheckDependencies<z.output<typeof revokeEnvironment>>) {
  const { environment, dynamo, kms, now } = dependencies;
  const keyring = makeKeyring({ dynamo, kms, tableName: environment.KEYRING_TABLE, now });
  const realm = { issuer: environment.ISSUER, audience: environment.AUDIENCE };
  const ipRateLimit = makeIpRateLimit({
    dynamo,
    tableName: environment.LOCKOUTS_TABLE,
    limit: environment.ADDRESS_FAILURE_LIMIT,
    now,
  });
  return {
    ...realm,
    readForm: makeAuthenticatedForm({
      dynamo,
      authentication: makeClientAuthentication({ clientsTable: environment.CLIENTS_TABLE, ipRateLimit, now }),
    }),
    verifyAccessToken: makeAccessTokenVerification({ keyring, ...realm, now }),
    verifyRefreshToken: makeRefreshTokenVerification(keyring),
  };
}
