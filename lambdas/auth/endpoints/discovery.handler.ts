import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHttpHandler } from '../../platform/lambda-handler.ts';
import { systemRuntime } from '../../platform/runtime.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { discoveryEnvironment } from '../environment.ts';
import { composeDiscovery } from './discovery.composition.ts';

const environment = readEnvironment(discoveryEnvironment);
const telemetry = makeTelemetry('discovery');
const runtime = { ...systemRuntime, dynamo: makeDynamo() };

/** Handles GET /.well-known/* and every path of {auth_url} that has no other route. */
export const handler = makeHttpHandler(telemetry, composeDiscovery(environment, runtime, telemetry));
