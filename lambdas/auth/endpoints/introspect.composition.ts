import type { Environment } from '../../platform/environment.ts';
import type { Outside } from '../../platform/outside.ts';
import type { Telemetry } from '../../platform/telemetry.ts';
import type { introspectEnvironment } from '../environment.ts';
import { makeActiveSessionReader } from '../sessions/active-session.ts';
import { makeIntrospectEndpoint } from './introspect-endpoint.ts';
import { composePresentedToken } from './presented-token.composition.ts';

export function composeIntrospect(
  environment: Environment<typeof introspectEnvironment>,
  outside: Pick<Outside, 'dynamo' | 'kms' | 'time'>,
  telemetry: Pick<Telemetry, 'log' | 'count'>,
) {
  const { dynamo, time } = outside;
  const tables = {
    clients: environment.clientsTable,
    users: environment.usersTable,
    sessions: environment.sessionsTable,
  };
  return makeIntrospectEndpoint({
    ...telemetry,
    ...time,
    readPresentedToken: composePresentedToken(environment, outside),
    readActiveSession: makeActiveSessionReader({ ...time, dynamo, tables }),
    dynamo,
    tables,
    issuer: environment.issuer,
  });
}
