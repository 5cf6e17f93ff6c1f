import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { systemClock } from '../../platform/clock.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { makeHttpHandler } from '../../platform/lambda-handler.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { introspectEnvironment } from '../environment.ts';
import { makeSecretUse } from '../principals/secret-use.ts';
import { makeIpRateLimit } from '../protection/rate-limit.ts';
import { makeAccessTokenVerification } from '../sessions/access-token.ts';
import { makeActiveSessionReader } from '../sessions/active-session.ts';
import { makeRefreshTokenVerification } from '../sessions/refresh-token.ts';
import { makeClientAuthentication } from './client-authentication.ts';
import { makeIntrospectEndpoint } from './introspect-endpoint.ts';
import { makePresentedTokenReader } from './presented-token.ts';

const environment = readEnvironment(introspectEnvironment);
const telemetry = makeTelemetry('introspect');
const dynamo = makeDynamo();
const now = systemClock;
const { ISSUERS: issuers, AUDIENCES: audiences, LOCKOUTS_TABLE: lockouts, IP_FAILURE_LIMIT: limit } = environment;
const tables = {
  clients: environment.CLIENTS_TABLE,
  users: environment.USERS_TABLE,
  sessions: environment.SESSIONS_TABLE,
};
const keyring = makeKeyring({ dynamo, kms: makeKms(), table: environment.KEYRING_TABLE, now });
keyring.openEarly('mac');

const readPresentedToken = makePresentedTokenReader({
  dynamo,
  clientAuthentication: makeClientAuthentication({
    table: tables.clients,
    ipRateLimit: makeIpRateLimit({ dynamo, table: lockouts, limit, now }),
    secretUse: makeSecretUse({ dynamo, table: lockouts, now, log: telemetry.log }),
    now,
  }),
  verifyRefreshToken: makeRefreshTokenVerification(keyring),
  verifyAccessToken: makeAccessTokenVerification({ keyring, issuers, audiences, now }),
});

/** POST {auth_url}/oauth/v1/introspect. */
export const handler = makeHttpHandler(
  telemetry,
  makeIntrospectEndpoint({
    ...telemetry,
    readPresentedToken,
    readActiveSession: makeActiveSessionReader({ dynamo, tables, now }),
    dynamo,
    tables,
    issuer: issuers[0],
    now,
  }),
  environment,
);
