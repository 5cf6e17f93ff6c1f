import type { Environment } from '../../platform/environment.ts';
import type { Runtime } from '../../platform/runtime.ts';
import type { Telemetry } from '../../platform/telemetry.ts';
import type { introspectEnvironment } from '../environment.ts';
import { makeActiveSessionReader } from '../sessions/active-session.ts';
import { makeIntrospectEndpoint } from './introspect-endpoint.ts';
import { composePresentedToken } from './presented-token.composition.ts';

export function composeIntrospect(
  environment: Environment<typeof introspectEnvironment>,
  runtime: Pick<Runtime, 'dynamo' | 'kms' | 'time'>,
  telemetry: Pick<Telemetry, 'log' | 'count'>,
) {
  const { dynamo, time } = runtime;
  const tables = {
    clients: environment.clientsTable,
    users: environment.usersTable,
    sessions: environment.sessionsTable,
  };
  return makeIntrospectEndpoint({
    ...telemetry,
    ...time,
    readPresentedToken: composePresentedToken(environment, runtime),
    readActiveSession: makeActiveSessionReader({ ...time, dynamo, tables }),
    dynamo,
    tables,
    issuer: environment.issuer,
  });
}
