import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHttpHandler } from '../../platform/lambda-handler.ts';
import { systemRuntime } from '../../platform/runtime.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { revokeEnvironment } from '../environment.ts';
import { composeRevoke } from './revoke.composition.ts';

const environment = readEnvironment(revokeEnvironment);
const telemetry = makeTelemetry('revoke');
const runtime = { ...systemRuntime, dynamo: makeDynamo(), kms: makeKms() };

/** Handles POST {auth_url}/oauth/v1/revoke. */
export const handler = makeHttpHandler(telemetry, composeRevoke(environment, runtime, telemetry));
