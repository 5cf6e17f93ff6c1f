import type { Environment } from '../platform/environment.ts';
import type { Outside } from '../platform/outside.ts';
import type { Telemetry } from '../platform/telemetry.ts';
import { makeReadSecret, makeReceiver, type receiverEnvironment } from './receiver.ts';

export function composeReceiver(
  environment: Environment<typeof receiverEnvironment>,
  { readParameter, time }: Pick<Outside, 'readParameter' | 'time'>,
  { log }: Telemetry,
) {
  const readSecret = makeReadSecret({ ...time, readParameter, name: environment.receiverKeyParameter, log });
  return makeReceiver({ ...time, readSecret });
}
