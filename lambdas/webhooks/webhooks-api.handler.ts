import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { KMSClient } from '@aws-sdk/client-kms';
import middy from '@middy/core';
import { makeProtectedResource, resourceMetadataUrl } from '../api/protected-resource.ts';
import { makeApi } from '../api/router.ts';
import { makeBearerAuthentication } from '../auth/sessions/bearer.ts';
import { clientSettings } from '../platform/client-settings.ts';
import { systemClock } from '../platform/clock.ts';
import { makeDynamo } from '../platform/dynamo.ts';
import { makeResolver } from '../platform/egress/resolver.ts';
import { readEnvironment } from '../platform/environment.ts';
import type { HttpRequest, HttpResponse } from '../platform/http.ts';
import { randomId } from '../platform/identifiers.ts';
import { makeKeyring } from '../platform/keyring.ts';
import { makeSealing } from '../platform/sealing.ts';
import { countServerErrors } from '../platform/server-errors.ts';
import { makeTelemetry } from '../platform/telemetry.ts';
import { webhooksApiEnvironment } from './environment.ts';
import { makeSigningSecret } from './signing-secret.ts';
import { makeValidateUrl } from './validate-url.ts';
import { makeWebhookResources } from './webhook-resources.ts';
import { makeWebhookStore } from './webhook-store.ts';

const environment = readEnvironment(webhooksApiEnvironment);
const { logger, metrics } = makeTelemetry('webhooks');
const dynamo = makeDynamo();
const keyring = makeKeyring({
  dynamo,
  kms: new KMSClient(clientSettings),
  table: environment.KEYRING_TABLE,
  now: systemClock,
});

/** {base_url}: manages webhooks under /v1/webhooks, and answers every path without a route of its own. Bodies hold secrets and are never logged. */
export const handler = middy<HttpRequest, HttpResponse>()
  .use(injectLambdaContext(logger, { logEvent: false }))
  .use(countServerErrors(metrics))
  .handler(
    makeApi({
      log: logger,
      docsUrl: environment.DOCS_URL,
      resourceMetadata: resourceMetadataUrl(environment.AUDIENCE),
      authenticate: makeBearerAuthentication({
        dynamo,
        keyring,
        tables: {
          clients: environment.CLIENTS_TABLE,
          users: environment.USERS_TABLE,
          sessions: environment.SESSIONS_TABLE,
        },
        issuer: environment.ISSUER,
        audience: environment.AUDIENCE,
        now: systemClock,
      }),
      resources: [
        makeProtectedResource({ audience: environment.AUDIENCE, issuer: environment.ISSUER }),
        ...makeWebhookResources({
          store: makeWebhookStore({ dynamo, table: environment.WEBHOOKS_TABLE }),
          sealing: makeSealing(keyring),
          validateUrl: makeValidateUrl({ resolve: makeResolver(), ownHosts: environment.OWN_HOSTS }),
          makeSecret: makeSigningSecret,
          makeId: randomId,
          now: systemClock,
        }),
      ],
    }),
  );
