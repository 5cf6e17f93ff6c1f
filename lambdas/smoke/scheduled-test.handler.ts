import { makeSqs } from '../platform/aws/sqs.ts';
import { makeReadParameter } from '../platform/deployment/parameters.ts';
import { readEnvironment } from '../platform/environment.ts';
import { makeHandler } from '../platform/lambda-handler.ts';
import { systemRuntime } from '../platform/runtime.ts';
import { makeTelemetry } from '../platform/telemetry.ts';
import { scheduledTestEnvironment } from './environment.ts';
import { composeScheduledTest } from './scheduled-test.composition.ts';

const environment = readEnvironment(scheduledTestEnvironment);
const telemetry = makeTelemetry('smoke-test');
const runtime = { ...systemRuntime, sqs: makeSqs(), readParameter: makeReadParameter(), fetch };

/** Runs the smoke test on a schedule. */
export const handler = makeHandler(telemetry, composeScheduledTest(environment, runtime, telemetry));
