import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeSqs } from '../../platform/aws/sqs.ts';
import { makePublish } from '../../platform/aws/topic.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHandler } from '../../platform/lambda-handler.ts';
import { systemRuntime } from '../../platform/runtime.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { sweepEnvironment } from '../environment.ts';
import { composeSweep } from './sweep.composition.ts';

const environment = readEnvironment(sweepEnvironment);
const telemetry = makeTelemetry('sweep');
const services = { dynamo: makeDynamo(), sqs: makeSqs(), publish: makePublish() };
const runtime = { ...systemRuntime, ...services };

/** Runs every minute. It sends the messages of due and overdue deliveries, continues replays and publishes announcements. */
export const handler = makeHandler(telemetry, composeSweep(environment, runtime, telemetry));
