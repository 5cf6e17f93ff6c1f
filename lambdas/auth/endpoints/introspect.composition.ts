import type * as z from 'zod/mini';
import type { Outside } from '../../platform/outside.ts';
import type { Telemetry } from '../../platform/telemetry.ts';
import type { introspectEnvironment } from '../environment.ts';
import { makeActiveSessionReader } from '../sessions/active-session.ts';
import { makeIntrospectEndpoint } from './introspect-endpoint.ts';
import { composePresentedToken } from './presented-token.composition.ts';

export function composeIntrospect(
  environment: z.infer<typeof introspectEnvironment>,
  outside: Pick<Outside, 'dynamo' | 'kms' | 'time'>,
  telemetry: Pick<Telemetry, 'log' | 'count'>,
) {
  const { dynamo, time } = outside;
  const tables = {
    clients: environment.CLIENTS_TABLE,
    users: environment.USERS_TABLE,
    sessions: environment.SESSIONS_TABLE,
  };
  return makeIntrospectEndpoint({
    ...telemetry,
    ...time,
    readPresentedToken: composePresentedToken(environment, outside, telemetry),
    readActiveSession: makeActiveSessionReader({ ...time, dynamo, tables }),
    dynamo,
    tables,
    issuer: environment.ISSUERS[0],
  });
}
