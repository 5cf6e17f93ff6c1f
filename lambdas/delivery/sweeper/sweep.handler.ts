import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeReadEventSourceState } from '../../platform/aws/event-source.ts';
import { makeReadKeyState } from '../../platform/aws/key-state.ts';
import { makeSqs } from '../../platform/aws/sqs.ts';
import { makePublish } from '../../platform/aws/topic.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHandler } from '../../platform/lambda-handler.ts';
import { machine } from '../../platform/outside.ts';
import { sweepEnvironment } from '../environment.ts';
import { makeDeliveryTelemetry } from '../telemetry.ts';
import { composeSweep } from './sweep.composition.ts';

const environment = readEnvironment(sweepEnvironment);
const telemetry = makeDeliveryTelemetry('sweep');
const services = { dynamo: makeDynamo(), sqs: makeSqs(), publish: makePublish() };
const looks = { readEventSourceState: makeReadEventSourceState(), readKeyState: makeReadKeyState() };
const outside = { ...machine, ...services, ...looks };

/** Runs every minute: sends due deliveries, recovers overdue ones, runs replays and slow backlogs, publishes announcements. */
export const handler = makeHandler(telemetry, composeSweep(environment, outside, telemetry));
