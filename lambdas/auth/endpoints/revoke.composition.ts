import type { Environment } from '../../platform/environment.ts';
import type { Runtime } from '../../platform/runtime.ts';
import type { Telemetry } from '../../platform/telemetry.ts';
import type { revokeEnvironment } from '../environment.ts';
import { makeSessionStore } from '../sessions/session-store.ts';
import { composePresentedToken } from './presented-token.composition.ts';
import { makeRevokeEndpoint } from './revoke-endpoint.ts';

export function composeRevoke(
  environment: Environment<typeof revokeEnvironment>,
  runtime: Pick<Runtime, 'dynamo' | 'kms' | 'time'>,
  telemetry: Pick<Telemetry, 'log' | 'count'>,
) {
  const { dynamo, time } = runtime;
  return makeRevokeEndpoint({
    ...telemetry,
    ...time,
    readPresentedToken: composePresentedToken(environment, runtime),
    sessions: makeSessionStore({ ...time, dynamo, table: environment.sessionsTable }),
  });
}
