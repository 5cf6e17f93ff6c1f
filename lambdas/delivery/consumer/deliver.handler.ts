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
/** All lanes write their metrics as `delivery`. The log names the lane. */
const telemetry = makeTelemetry(`deliver-${environment.lane}`, 'delivery');
const services = { dynamo: makeDynamo(), sqs: makeSqs(), kms: makeKms(), publish: makePublish() };
const runtime = { ...systemRuntime, ...services, resolve: makeResolver(), post: makePinnedPost() };

/** Makes attempts. The consumers of the three queues are three functions with this handler, and `LANE` names the lane. */
export const handler = makeHandler(telemetry, composeDeliver(environment, runtime, telemetry));
