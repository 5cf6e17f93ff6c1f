import { makeProtectedResource, resourceMetadataUrl } from '../api/protected-resource.ts';
import { resourcesOf } from '../api/route.ts';
import { makeApi } from '../api/router.ts';
import { apiRoutes } from '../api/routes.ts';
import { makeBearerAuthentication } from '../auth/sessions/bearer.ts';
import { makeDynamo } from '../platform/aws/dynamo.ts';
import { makeKms } from '../platform/aws/kms.ts';
import { systemClock } from '../platform/clock.ts';
import { makeResolver } from '../platform/egress/resolver.ts';
import { readEnvironment } from '../platform/environment.ts';
import { randomId } from '../platform/identifiers.ts';
import { makeKeyring } from '../platform/keyring.ts';
import { makeHttpHandler } from '../platform/lambda-handler.ts';
import { calledUrl } from '../platform/own-urls.ts';
import { makeSealing } from '../platform/sealing.ts';
import { makeTelemetry } from '../platform/telemetry.ts';
import { webhooksApiEnvironment } from './environment.ts';
import { webhookRoutes } from './routes.ts';
import { makeSigningSecret } from './signing-secret.ts';
import { makeReadSlowSince } from './slow-since.ts';
import { makeValidateUrl } from './validate-url.ts';
import { makeWebhookHandlers } from './webhook-handlers.ts';
import { makeWebhookStore } from './webhook-store.ts';
import { makeReadWithoutWebhook } from './without-webhook.ts';

const environment = readEnvironment(webhooksApiEnvironment);
const telemetry = makeTelemetry('webhooks');
const dynamo = makeDynamo();
const keyring = makeKeyring({
  dynamo,
  kms: makeKms(),
  table: environment.KEYRING_TABLE,
  now: systemClock,
});
keyring.openEarly('sealing');

/** {base_url}: manages webhooks under /v1/webhooks, and answers every path without a route of its own. */
export const handler = makeHttpHandler(
  telemetry,
  makeApi({
    log: telemetry.log,
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
      now: systemClock,
    }),
    resources: [
      ...resourcesOf(apiRoutes, {
        getProtectedResourceMetadata: makeProtectedResource({
          audiences: environment.AUDIENCES,
          authorizationServers: environment.AUTHORIZATION_SERVERS,
        }),
      }),
      ...resourcesOf(
        webhookRoutes,
        makeWebhookHandlers({
          store: makeWebhookStore({ dynamo, table: environment.WEBHOOKS_TABLE }),
          readSlowSince: makeReadSlowSince(dynamo, environment.DELIVERIES_TABLE),
          readWithoutWebhook: makeReadWithoutWebhook({ dynamo, table: environment.DELIVERIES_TABLE, now: systemClock }),
          sealing: makeSealing(keyring),
          validateUrl: makeValidateUrl({ resolve: makeResolver(), ownHosts: environment.OWN_HOSTS }),
          makeSecret: makeSigningSecret,
          makeId: randomId,
          now: systemClock,
        }),
      ),
    ],
  }),
  environment,
);
