import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { systemClock } from '../../platform/clock.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { makeHttpHandler } from '../../platform/lambda-handler.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { revokeEnvironment } from '../environment.ts';
import { makeSecretUse } from '../principals/secret-use.ts';
import { makeIpRateLimit } from '../protection/rate-limit.ts';
import { makeAccessTokenVerification } from '../sessions/access-token.ts';
import { makeRefreshTokenVerification } from '../sessions/refresh-token.ts';
import { makeSessionStore } from '../sessions/session-store.ts';
import { makeClientAuthentication } from './client-authentication.ts';
import { makePresentedTokenReader } from './presented-token.ts';
import { makeRevokeEndpoint } from './revoke-endpoint.ts';

const environment = readEnvironment(revokeEnvironment);
const telemetry = makeTelemetry('revoke');
const dynamo = makeDynamo();
const now = systemClock;
const { ISSUERS: issuers, AUDIENCES: audiences, LOCKOUTS_TABLE: lockouts, IP_FAILURE_LIMIT: limit } = environment;
const keyring = makeKeyring({ dynamo, kms: makeKms(), table: environment.KEYRING_TABLE, now });
keyring.openEarly('mac');

const readPresentedToken = makePresentedTokenReader({
  dynamo,
  clientAuthentication: makeClientAuthentication({
    table: environment.CLIENTS_TABLE,
    ipRateLimit: makeIpRateLimit({ dynamo, table: lockouts, limit, now }),
    secretUse: makeSecretUse({ dynamo, table: lockouts, now, log: telemetry.log }),
    now,
  }),
  verifyRefreshToken: makeRefreshTokenVerification(keyring),
  verifyAccessToken: makeAccessTokenVerification({ keyring, issuers, audiences, now }),
});

/** POST {auth_url}/oauth/v1/revoke. */
export const handler = makeHttpHandler(
  telemetry,
  makeRevokeEndpoint({
    ...telemetry,
    readPresentedToken,
    sessions: makeSessionStore({ dynamo, table: environment.SESSIONS_TABLE }),
    now,
  }),
  environment,
);
