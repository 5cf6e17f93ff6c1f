import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { systemClock } from '../../platform/clock.ts';
import { makeDynamo } from '../../platform/dynamo.ts';
import { readEnvironment } from '../../platform/environment.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { countServerErrors } from '../../platform/server-errors.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { discoveryEnvironment } from '../environment.ts';
import { makeDiscovery } from './discovery.ts';

const environment = readEnvironment(discoveryEnvironment);
const { logger, metrics } = makeTelemetry('discovery');
const keyring = makeKeyring({
  dynamo: makeDynamo(),
  table: environment.KEYRING_TABLE,
  now: systemClock,
});

/** GET /.well-known/*, and whatever no other route of {auth_url} takes. */
export const handler = middy<HttpRequest, HttpResponse>()
  .use(injectLambdaContext(logger, { logEvent: false }))
  .use(countServerErrors(metrics))
  .handler(makeDiscovery({ keyring, issuer: environment.ISSUER, log: logger }));
