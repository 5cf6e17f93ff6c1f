import { SSMClient } from '@aws-sdk/client-ssm';
import { clientSettings } from '../platform/aws/client-settings.ts';
import { systemClock } from '../platform/clock.ts';
import { readParameter } from '../platform/deployment/parameters.ts';
import { readEnvironment } from '../platform/environment.ts';
import { makeTelemetry } from '../platform/telemetry.ts';
import { makeReadSecret, makeReceiver, receiverEnvironment } from './receiver.ts';

const environment = readEnvironment(receiverEnvironment);
const { log } = makeTelemetry('smoke-receiver');
const ssm = new SSMClient(clientSettings('ssm'));
const readSecret = makeReadSecret({
  readParameter: name => readParameter(ssm, name),
  name: environment.RECEIVER_KEY_PARAMETER,
  log,
  now: systemClock,
});

/** Receives the events of smoke tests at a function URL that anybody may call. */
export const handler = makeReceiver({ readSecret, now: systemClock });
