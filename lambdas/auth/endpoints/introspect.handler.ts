import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHttpHandler } from '../../platform/lambda-handler.ts';
import { systemRuntime } from '../../platform/runtime.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { introspectEnvironment } from '../environment.ts';
import { composeIntrospect } from './introspect.composition.ts';

const environment = readEnvironment(introspectEnvironment);
const telemetry = makeTelemetry('introspect');
const runtime = { ...systemRuntime, dynamo: makeDynamo(), kms: makeKms() };

/** Handles POST {auth_url}/oauth/v1/introspect. */
export const handler = makeHttpHandler(telemetry, composeIntrospect(environment, runtime, telemetry));
