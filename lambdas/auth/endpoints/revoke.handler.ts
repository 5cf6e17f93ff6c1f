import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import { KMSClient } from '@aws-sdk/client-kms';
import middy from '@middy/core';
import { clientSettings } from '../../platform/client-settings.ts';
import { systemClock } from '../../platform/clock.ts';
import { makeDynamo } from '../../platform/dynamo.ts';
import { readEnvironment } from '../../platform/environment.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http.ts';
import { countServerErrors } from '../../platform/server-errors.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { revokeEnvironment } from '../environment.ts';
import { makeRevokeEndpoint } from './revoke-endpoint.ts';

const { logger, metrics } = makeTelemetry('revoke');
const revokeEndpoint = makeRevokeEndpoint({
  environment: readEnvironment(revokeEnvironment),
  dynamo: makeDynamo(),
  kms: new KMSClient(clientSettings),
  log: logger,
  count: name => metrics.addMetric(name, 'Count', 1),
  now: systemClock,
});

/** POST {auth_url}/oauth/v1/revoke. Events carry tokens: they are never logged, whatever the environment asks for. */
export const handler = middy<HttpRequest, HttpResponse>()
  .use(injectLambdaContext(logger, { logEvent: false }))
  .use(countServerErrors(metrics))
  .use(logMetrics(metrics))
  .handler(revokeEndpoint);
