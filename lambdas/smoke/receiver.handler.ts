import { systemClock } from '../platform/clock.ts';
import { readEnvironment } from '../platform/environment.ts';
import { makeTelemetry } from '../platform/telemetry.ts';
import { receiverEnvironment } from './environment.ts';
import { makeReadParameter, makeReadSecret } from './parameters.ts';
import { makeReceiver } from './receiver.ts';

const environment = readEnvironment(receiverEnvironment);
const { log } = makeTelemetry('smoke-receiver');
const readSecret = makeReadSecret({
  readParameter: makeReadParameter(),
  name: environment.RECEIVER_KEY_PARAMETER,
  log,
  now: systemClock,
});

/** Receives the events of smoke tests at a function URL that anybody may call. */
export const handler = makeReceiver({ readSecret, now: systemClock });
