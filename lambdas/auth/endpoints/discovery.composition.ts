import type * as z from 'zod/mini';
import { makeKeyring } from '../../platform/keyring.ts';
import type { Outside } from '../../platform/outside.ts';
import type { Telemetry } from '../../platform/telemetry.ts';
import type { discoveryEnvironment } from '../environment.ts';
import { makeDiscovery } from './discovery.ts';

/** Composes the function that answers what clients may know of {auth_url}: its metadata and its public keys. */
export function composeDiscovery(
  environment: z.infer<typeof discoveryEnvironment>,
  { dynamo, time }: Pick<Outside, 'dynamo' | 'time'>,
  { log }: Pick<Telemetry, 'log'>,
) {
  const keyring = makeKeyring({ ...time, dynamo, table: environment.KEYRING_TABLE });
  return makeDiscovery({ keyring, issuers: environment.ISSUERS, log });
}
