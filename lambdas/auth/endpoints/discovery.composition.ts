import type { Environment } from '../../platform/environment.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import type { Runtime } from '../../platform/runtime.ts';
import type { Telemetry } from '../../platform/telemetry.ts';
import type { discoveryEnvironment } from '../environment.ts';
import { makeDiscovery } from './discovery.ts';

/** Composes the function that returns the metadata and the public keys of {auth_url}. */
export function composeDiscovery(
  environment: Environment<typeof discoveryEnvironment>,
  { dynamo, time }: Pick<Runtime, 'dynamo' | 'time'>,
  { log }: Pick<Telemetry, 'log'>,
) {
  const keyring = makeKeyring({ ...time, dynamo, table: environment.keyringTable });
  return makeDiscovery({ keyring, issuer: environment.issuer, log });
}
