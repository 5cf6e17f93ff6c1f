import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHandler } from '../../platform/lambda-handler.ts';
import { systemRuntime } from '../../platform/runtime.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { rotateKeysEnvironment } from '../environment.ts';
import { composeRotateKeys } from './rotate-keys.composition.ts';

const environment = readEnvironment(rotateKeysEnvironment);
const telemetry = makeTelemetry('rotate-keys');
const runtime = { ...systemRuntime, dynamo: makeDynamo(), kms: makeKms() };

/** Rotates the keys that are due. Runs on the first deployment, once a day, and when an operator runs `ops keys rotate`. */
export const handler = makeHandler(telemetry, composeRotateKeys(environment, runtime, telemetry));
