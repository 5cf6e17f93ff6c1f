import { resourceMetadataUrl } from '../api/protected-resource.ts';
import { makeApi } from '../api/router.ts';
import { makeBearerAuthentication } from '../auth/sessions/bearer.ts';
import type { Dynamo } from '../platform/aws/dynamo.ts';
import type { Clock } from '../platform/clock.ts';
import type { Environment } from '../platform/environment.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Log } from '../platform/telemetry.ts';
import type { baseApiEnvironment } from '../webhooks/environment.ts';

/** Makes what answers requests to {base_url}, for resources: each function has its own, and all the same way in. */
export function makeBaseApi({ environment, dynamo, keyring, log, now, resources }: BaseApiParts) {
  return makeApi({
    ...environment,
    log,
    resourceMetadata: resourceMetadataUrl(environment.audience),
    authenticate: makeBearerAuthentication({
      ...environment,
      dynamo,
      keyring,
      tables: {
        clients: environment.clientsTable,
        users: environment.usersTable,
        sessions: environment.sessionsTable,
      },
      now,
    }),
    resources,
  });
}

interface BaseApiParts {
  readonly environment: Environment<typeof baseApiEnvironment>;
  readonly dynamo: Dynamo;
  readonly keyring: Keyring;
  readonly log: Log;
  readonly now: Clock;
  readonly resources: Parameters<typeof makeApi>[0]['resources'];
}
