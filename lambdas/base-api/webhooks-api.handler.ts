import { makeDynamo } from '../platform/aws/dynamo.ts';
import { makeKms } from '../platform/aws/kms.ts';
import { makeNameServer, makeResolver } from '../platform/egress/resolver.ts';
import { readEnvironment } from '../platform/environment.ts';
import { makeHttpHandler } from '../platform/lambda-handler.ts';
import { systemRuntime } from '../platform/runtime.ts';
import { makeTelemetry } from '../platform/telemetry.ts';
import { webhooksApiEnvironment } from '../webhooks/environment.ts';
import { registrationNameServerOptions } from '../webhooks/url-validation.ts';
import { composeWebhooksApi } from './webhooks-api.composition.ts';

const environment = readEnvironment(webhooksApiEnvironment);
const telemetry = makeTelemetry('webhooks');
const resolve = makeResolver(() => makeNameServer(registrationNameServerOptions));
const runtime = { ...systemRuntime, dynamo: makeDynamo(), kms: makeKms(), resolve };

/** Manages webhooks under {base_url}/v1/webhooks, and handles all paths that have no other route. */
export const handler = makeHttpHandler(telemetry, composeWebhooksApi(environment, runtime, telemetry));
