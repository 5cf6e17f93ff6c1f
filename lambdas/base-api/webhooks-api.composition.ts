import { apiProblems } from '../api/problems.ts';
import { makeProtectedResource } from '../api/protected-resource.ts';
import { resourcesOf } from '../api/route.ts';
import { makeApi } from '../api/router.ts';
import { apiRoutes } from '../api/routes.ts';
import { makeCountRegistration } from '../delivery/api/request-limits.ts';
import { makeReadUnregisteredEvents } from '../delivery/intake/unregistered-events.ts';
import { makeSlowSinceReader } from '../delivery/lanes/slow-since.ts';
import { makeEncryption } from '../platform/encryption.ts';
import type { Environment } from '../platform/environment.ts';
import { makeRandomIds } from '../platform/identifiers.ts';
import { makeKeyring } from '../platform/keyring.ts';
import type { Runtime } from '../platform/runtime.ts';
import type { Telemetry } from '../platform/telemetry.ts';
import type { webhooksApiEnvironment } from '../webhooks/environment.ts';
import { webhookProblems, webhookRoutes } from '../webhooks/routes.ts';
import { makeSigningSecrets } from '../webhooks/signing-secret.ts';
import { makeUrlValidation } from '../webhooks/url-validation.ts';
import { makeWebhookHandlers } from '../webhooks/webhook-handlers.ts';
import { makeWebhookStore } from '../webhooks/webhook-store.ts';

/** Composes the function that manages webhooks under /v1/webhooks and handles all paths that have no other route. */
export function composeWebhooksApi(
  environment: Environment<typeof webhooksApiEnvironment>,
  runtime: Pick<Runtime, 'dynamo' | 'kms' | 'resolve' | 'time' | 'random'>,
  { log }: Pick<Telemetry, 'log'>,
) {
  const { dynamo, kms, resolve, time, random } = runtime;
  const keyring = makeKeyring({ ...time, dynamo, kms, table: environment.keyringTable });
  keyring.prefetch('encryption');
  const deliveries = { ...time, dynamo, table: environment.deliveriesTable };

  return makeApi({
    ...time,
    environment,
    dynamo,
    keyring,
    log,
    resources: [
      ...resourcesOf(apiRoutes, apiProblems, { getProtectedResourceMetadata: makeProtectedResource(environment) }),
      ...resourcesOf(
        webhookRoutes,
        webhookProblems,
        makeWebhookHandlers({
          ...time,
          store: makeWebhookStore({ dynamo, table: environment.webhooksTable }),
          readSlowSince: makeSlowSinceReader(deliveries),
          readUnregisteredEvents: makeReadUnregisteredEvents(deliveries),
          encryption: makeEncryption(keyring, random),
          urls: makeUrlValidation({ ...time, resolve, ownHosts: environment.ownHosts }),
          countRegistration: makeCountRegistration({ ...environment, ...deliveries }),
          makeSecret: makeSigningSecrets(random),
          makeId: makeRandomIds(random),
          random: random.number,
        }),
      ),
    ],
  });
}
