import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { systemClock } from '../../platform/clock.ts';
import { readEnvironment } from '../../platform/environment.ts';
import type { HttpRequest } from '../../platform/http.ts';
import { randomId } from '../../platform/identifiers.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { makeHttpHandler } from '../../platform/lambda-handler.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { tokenEnvironment } from '../environment.ts';
import { makeGrants } from '../grants/grants.ts';
import { assertHashing, passwordHashing } from '../principals/password-hash.ts';
import { makeSecretUse } from '../principals/secret-use.ts';
import { makeIpRateLimit } from '../protection/rate-limit.ts';
import { makeClientAuthentication } from './client-authentication.ts';
import { makeSelfCheck, withoutCount } from './self-check.ts';
import { makeTokenEndpoint } from './token-endpoint.ts';

const environment = readEnvironment(tokenEnvironment);
const telemetry = makeTelemetry('token');
const dynamo = makeDynamo();
const now = systemClock;
const keyring = makeKeyring({ dynamo, kms: makeKms(), table: environment.KEYRING_TABLE, now });
keyring.openEarly('mac', 'signing');
const tables = {
  users: environment.USERS_TABLE,
  credentials: environment.CREDENTIALS_TABLE,
  sessions: environment.SESSIONS_TABLE,
  lockouts: environment.LOCKOUTS_TABLE,
};

const ipRateLimit = makeIpRateLimit({ dynamo, table: tables.lockouts, limit: environment.IP_FAILURE_LIMIT, now });
const clients = {
  table: environment.CLIENTS_TABLE,
  secretUse: makeSecretUse({ dynamo, table: tables.lockouts, now, log: telemetry.log }),
  now,
};
const parts = {
  dynamo,
  grants: makeGrants({
    ...telemetry,
    dynamo,
    tables,
    keyring,
    passwords: passwordHashing,
    issuer: environment.ISSUER,
    audience: environment.AUDIENCE,
    accessTokenSeconds: environment.ACCESS_TOKEN_SECONDS,
    refreshIdleSeconds: environment.REFRESH_IDLE_SECONDS,
    refreshAbsoluteSeconds: environment.REFRESH_ABSOLUTE_SECONDS,
    clientFailureLimit: environment.CLIENT_FAILURE_LIMIT,
    now,
    makeId: randomId,
    random: Math.random,
  }),
};
const tokenEndpoint = makeTokenEndpoint({
  ...telemetry,
  ...parts,
  clientAuthentication: makeClientAuthentication({ ...clients, ipRateLimit }),
});

// It is refused on purpose: no log, no metric and no count tells of it.
const unseen = {
  log: { ...telemetry.log, warn: () => {} },
  count: () => {},
  clientAuthentication: makeClientAuthentication({ ...clients, ipRateLimit: withoutCount(ipRateLimit) }),
};
const checkItself = makeSelfCheck({
  assertHashing,
  keyring,
  tokenEndpoint: makeTokenEndpoint({ ...parts, ...unseen }),
});

/**
 * POST {auth_url}/oauth/v1/token.
 *
 * A deployment that changes the function invokes it without a request: it then checks itself.
 */
export const handler = makeHttpHandler(
  telemetry,
  async (event: HttpRequest | { readonly requestContext?: never }) => {
    if (event.requestContext) return await tokenEndpoint(event);
    await checkItself();
    return undefined;
  },
  environment,
);
