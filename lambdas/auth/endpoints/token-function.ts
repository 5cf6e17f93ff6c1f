import type { KMSClient } from '@aws-sdk/client-kms';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod/mini';
import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import type { Log } from '../../platform/telemetry.ts';
import type { tokenEnvironment } from '../environment.ts';
import { makePasswordGrant } from '../grants/password.ts';
import { makeRefreshTokenGrant } from '../grants/refresh-token.ts';
import { makeTokenIssue } from '../grants/token-issue.ts';
import { makeCredentialStore } from '../principals/credential-store.ts';
import type { PasswordHashing } from '../principals/password-hash.ts';
import { makeAudit } from '../protection/audit.ts';
import { makeLockout } from '../protection/lockout.ts';
import { makeClientRateLimit, makeIpRateLimit } from '../protection/rate-limit.ts';
import { makeAccessTokenMint } from '../sessions/access-token.ts';
import { makeSessionStore } from '../sessions/session-store.ts';
import { makeClientAuthentication } from './client-authentication.ts';
import { makeOAuthEndpoint } from './oauth-endpoint.ts';
import { makeTokenEndpoint } from './token-endpoint.ts';

/** What the whole token function stands on: the outside world, and nothing of this service. */
export interface TokenFunctionDependencies {
  readonly environment: z.output<typeof tokenEnvironment>;
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly kms: Pick<KMSClient, 'send'>;
  readonly passwords: PasswordHashing;
  readonly log: Log;
  /** Adds one to the metric of that name. */
  readonly count: (metric: string) => void;
  readonly now: Clock;
  readonly makeId: MakeId;
}

/** Puts the token function together. */
export function makeTokenFunction(dependencies: TokenFunctionDependencies) {
  const { environment, dynamo, kms, passwords, log, count, now, makeId } = dependencies;
  const userTables = { users: environment.USERS_TABLE, credentials: environment.CREDENTIALS_TABLE };
  const lockouts = { dynamo, tableName: environment.LOCKOUTS_TABLE, now };
  const keyring = makeKeyring({ dynamo, kms, tableName: environment.KEYRING_TABLE, now });
  const sessions = makeSessionStore({ dynamo, tableName: environment.SESSIONS_TABLE });
  const clientRateLimit = makeClientRateLimit({ ...lockouts, limit: environment.CLIENT_FAILURE_LIMIT });

  const prepareTokens = makeTokenIssue({
    keyring,
    accessTokenSeconds: environment.ACCESS_TOKEN_SECONDS,
    mint: makeAccessTokenMint({
      keyring,
      issuer: environment.ISSUER,
      audience: environment.AUDIENCE,
      lifetimeSeconds: environment.ACCESS_TOKEN_SECONDS,
      now,
      makeId,
    }),
  });
  const grantDependencies = {
    dynamo,
    userTables,
    sessionsTable: environment.SESSIONS_TABLE,
    credentials: makeCredentialStore({ dynamo, tableName: userTables.credentials, now }),
    sessions,
    passwords,
    lockout: makeLockout({ ...lockouts, keyring }),
    clientRateLimit,
    keyring,
    prepareTokens,
    refreshIdleSeconds: environment.REFRESH_IDLE_SECONDS,
    refreshAbsoluteSeconds: environment.REFRESH_ABSOLUTE_SECONDS,
    now,
    makeId,
  };

  return makeOAuthEndpoint({
    endpoint: 'token',
    audit: makeAudit({ log, count }),
    log,
    answer: makeTokenEndpoint({
      dynamo,
      authentication: makeClientAuthentication({
        clientsTable: environment.CLIENTS_TABLE,
        ipRateLimit: makeIpRateLimit({ ...lockouts, limit: environment.ADDRESS_FAILURE_LIMIT }),
        now,
      }),
      clientRateLimit,
      grants: {
        password: makePasswordGrant(grantDependencies),
        refresh_token: makeRefreshTokenGrant(grantDependencies),
      },
    }),
  });
}
