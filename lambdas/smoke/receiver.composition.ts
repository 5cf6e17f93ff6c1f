import type * as z from 'zod/mini';
import type { Outside } from '../platform/outside.ts';
import type { Telemetry } from '../platform/telemetry.ts';
import { makeReadSecret, makeReceiver, type receiverEnvironment } from './receiver.ts';

export function composeReceiver(
  environment: z.infer<typeof receiverEnvironment>,
  { readParameter, time }: Pick<Outside, 'readParameter' | 'time'>,
  { log }: Telemetry,
) {
  const readSecret = makeReadSecret({ ...time, readParameter, name: environment.RECEIVER_KEY_PARAMETER, log });
  return makeReceiver({ ...time, readSecret });
}
