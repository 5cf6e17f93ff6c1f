import type { Environment } from '../../platform/environment.ts';
import type { HttpRequest } from '../../platform/http.ts';
import { makeRandomIds } from '../../platform/identifiers.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import type { Runtime } from '../../platform/runtime.ts';
import type { Telemetry } from '../../platform/telemetry.ts';
import type { tokenEnvironment } from '../environment.ts';
import { makeGrants } from '../grants/grants.ts';
import { makePasswordHashing } from '../principals/password-hash.ts';
import { makeClientAuthentication } from './client-authentication.ts';
import { makeSelfCheck } from './self-check.ts';
import { makeTokenEndpoint } from './token-endpoint.ts';

/** Composes the token endpoint. An event without a request context runs the self-check that a deployment makes before it shifts traffic. */
export function composeToken(
  environment: Environment<typeof tokenEnvironment>,
  runtime: Pick<Runtime, 'dynamo' | 'kms' | 'time' | 'random' | 'keyDerivation'>,
  telemetry: Pick<Telemetry, 'log' | 'count'>,
) {
  const { dynamo, kms, time, random } = runtime;
  const keyring = makeKeyring({ ...time, dynamo, kms, table: environment.keyringTable });
  keyring.prefetch('mac', 'signing');
  const passwords = makePasswordHashing(runtime);
  const tables = {
    users: environment.usersTable,
    credentials: environment.credentialsTable,
    sessions: environment.sessionsTable,
    lockouts: environment.lockoutsTable,
  };
  const parts = {
    dynamo,
    clientAuthentication: makeClientAuthentication({ ...time, table: environment.clientsTable }),
    grants: makeGrants({
      ...environment,
      ...telemetry,
      ...time,
      dynamo,
      tables,
      keyring,
      passwords,
      makeId: makeRandomIds(random),
    }),
  };
  const tokenEndpoint = makeTokenEndpoint({ ...telemetry, ...parts });

  // The self-check expects its requests to be rejected, so they cause no warning or metric.
  const silentTelemetry = { log: { ...telemetry.log, warn: () => {} }, count: () => {} };
  const silentEndpoint = makeTokenEndpoint({ ...parts, ...silentTelemetry });
  const selfCheck = makeSelfCheck({ passwords, keyring, tokenEndpoint: silentEndpoint });

  return async function handle(event: HttpRequest | { readonly requestContext?: never }) {
    if (event.requestContext) return await tokenEndpoint(event);
    await selfCheck();
    return undefined;
  };
}
