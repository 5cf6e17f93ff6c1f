import { composeRotateKeys } from '../../../lambdas/auth/keys/rotate-keys.composition.ts';
import { makeTelemetry } from '../../../lambdas/platform/telemetry.ts';
import { keyRotation } from '../set-up.ts';
import { makeOperators } from './operators.ts';
import type { Population } from './population.ts';
import type { TokenOutside } from './token-stage.ts';

/** Makes the function that fills the tables of a world of tokens: the first keys, the clients and the users. */
export function makeTokenSetUp(outside: TokenOutside, { clients, users }: Population): () => Promise<void> {
  const telemetry = makeTelemetry('rotate-keys', 'rotate-keys', outside.time.now);
  const rotateKeys = composeRotateKeys(keyRotation, outside, telemetry);
  const operate = makeOperators(outside);

  return async function setUp() {
    await rotateKeys();
    for (const client of Object.values(clients)) await operate({ name: 'create-client', client });
    for (const user of Object.values(users)) await operate({ name: 'create-user', user });
  };
}
