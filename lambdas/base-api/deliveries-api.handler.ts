import { deliveriesApiEnvironment } from '../delivery/environment.ts';
import { makeDynamo } from '../platform/aws/dynamo.ts';
import { makeSqs } from '../platform/aws/sqs.ts';
import { readEnvironment } from '../platform/environment.ts';
import { makeHttpHandler } from '../platform/lambda-handler.ts';
import { systemRuntime } from '../platform/runtime.ts';
import { makeTelemetry } from '../platform/telemetry.ts';
import { composeDeliveriesApi } from './deliveries-api.composition.ts';

const environment = readEnvironment(deliveriesApiEnvironment);
const telemetry = makeTelemetry('history');
const runtime = { ...systemRuntime, dynamo: makeDynamo(), sqs: makeSqs() };

/** Handles the delivery history of webhooks, resends, replays and tests at {base_url}. */
export const handler = makeHttpHandler(telemetry, composeDeliveriesApi(environment, runtime, telemetry));
