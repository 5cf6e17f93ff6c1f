import type * as z from 'zod/mini';
import { resourceMetadataUrl } from '../api/protected-resource.ts';
import { makeApi } from '../api/router.ts';
import { makeBearerAuthentication } from '../auth/sessions/bearer.ts';
import type { Dynamo } from '../platform/aws/dynamo.ts';
import type { Clock } from '../platform/clock.ts';
import type { Keyring } from '../platform/keyring.ts';
import { calledUrl } from '../platform/own-urls.ts';
import type { Log } from '../platform/telemetry.ts';
import type { baseApiEnvironment } from '../webhooks/environment.ts';

/** Makes what answers requests to {base_url}, for resources: each function has its own, and all the same way in. */
export function makeBaseApi({ environment, dynamo, keyring, log, now, resources }: BaseApiParts) {
  return makeApi({
    log,
    docsUrl: environment.DOCS_URL,
    resourceMetadata: request => resourceMetadataUrl(calledUrl(request, environment.AUDIENCES)),
    authenticate: makeBearerAuthentication({
      dynamo,
      keyring,
      tables: {
        clients: environment.CLIENTS_TABLE,
        users: environment.USERS_TABLE,
        sessions: environment.SESSIONS_TABLE,
      },
      issuers: environment.ISSUERS,
      audiences: environment.AUDIENCES,
      now,
    }),
    resources,
  });
}

interface BaseApiParts {
  readonly environment: z.infer<typeof baseApiEnvironment>;
  readonly dynamo: Dynamo;
  readonly keyring: Keyring;
  readonly log: Log;
  readonly now: Clock;
  readonly resources: Parameters<typeof makeApi>[0]['resources'];
}
