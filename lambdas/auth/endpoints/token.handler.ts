import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import { KMSClient } from '@aws-sdk/client-kms';
import middy from '@middy/core';
import { clientSettings } from '../../platform/client-settings.ts';
import { systemClock } from '../../platform/clock.ts';
import { makeDynamo } from '../../platform/dynamo.ts';
import { readEnvironment } from '../../platform/environment.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http.ts';
import { randomId } from '../../platform/identifiers.ts';
import { countServerErrors } from '../../platform/server-errors.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { tokenEnvironment } from '../environment.ts';
import { assertHashing, passwordHashing } from '../principals/password-hash.ts';
import { makeTokenEndpoint } from './token-endpoint.ts';

const { logger, metrics } = makeTelemetry('token');
const tokenEndpoint = makeTokenEndpoint({
  environment: readEnvironment(tokenEnvironment),
  dynamo: makeDynamo(),
  kms: new KMSClient(clientSettings),
  passwords: passwordHashing,
  log: logger,
  count: name => metrics.addMetric(name, 'Count', 1),
  now: systemClock,
  makeId: randomId,
  random: Math.random,
});

/**
 * POST {auth_url}/oauth/v1/token. Events carry passwords: they are never logged, whatever the environment asks for.
 *
 * A deployment that changes the function invokes it without a request, which checks that it can hash passwords.
 */
export const handler = middy<HttpRequest | Record<string, never>, HttpResponse | undefined>()
  .use(injectLambdaContext(logger, { logEvent: false }))
  .use(countServerErrors(metrics))
  .use(logMetrics(metrics))
  .handler(async event => {
    if ('requestContext' in event) return await tokenEndpoint(event);
    await assertHashing();
    return undefined;
  });
