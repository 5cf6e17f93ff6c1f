import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHttpHandler } from '../../platform/lambda-handler.ts';
import { systemRuntime } from '../../platform/runtime.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { tokenEnvironment } from '../environment.ts';
import { composeToken } from './token.composition.ts';

const environment = readEnvironment(tokenEnvironment);
const telemetry = makeTelemetry('token');
const runtime = { ...systemRuntime, dynamo: makeDynamo(), kms: makeKms() };
const handle = composeToken(environment, runtime, telemetry);

/** Handles POST {auth_url}/oauth/v1/token and the self-check of a deployment. */
export const handler = makeHttpHandler(telemetry, handle, () => handle({}));
