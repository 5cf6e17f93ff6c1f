import { makeReadParameter } from '../platform/deployment/parameters.ts';
import { readEnvironment } from '../platform/environment.ts';
import { machine } from '../platform/outside.ts';
import { makeTelemetry } from '../platform/telemetry.ts';
import { composeReceiver } from './receiver.composition.ts';
import { receiverEnvironment } from './receiver.ts';

const environment = readEnvironment(receiverEnvironment);
const outside = { ...machine, readParameter: makeReadParameter() };

/** Receives the events of smoke tests at a function URL that anybody may call. */
export const handler = composeReceiver(environment, outside, makeTelemetry('smoke-receiver'));
