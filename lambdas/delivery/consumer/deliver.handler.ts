import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { makeKms } from '../../platform/aws/kms.ts';
import { makeSqs } from '../../platform/aws/sqs.ts';
import { makePublish } from '../../platform/aws/topic.ts';
import { makePinnedPost } from '../../platform/egress/pinned-request.ts';
import { makeResolver } from '../../platform/egress/resolver.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeHandler } from '../../platform/lambda-handler.ts';
import { systemRuntime } from '../../platform/runtime.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { deliverEnvironment } from '../environment.ts';
import { composeDeliver } from './deliver.composition.ts';

const environment = readEnvironment(deliverEnvironment);
/** The metrics of all lanes have the service `delivery`. Log lines contain the lane. */
const telemetry = makeTelemetry(`deliver-${environment.lane}`, 'delivery');
const services = { dynamo: makeDynamo(), sqs: makeSqs(), kms: makeKms(), publish: makePublish() };
const runtime = { ...systemRuntime, ...services, resolve: makeResolver(), post: makePinnedPost() };

/** Consumes a queue and makes attempts. Three functions use this handler, each with its own `LANE`. */
export const handler = makeHandler(telemetry, composeDeliver(environment, runtime, telemetry));
