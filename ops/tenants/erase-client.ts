import type { Client } from '../../lambdas/auth/principals/client.ts';
import { clientLimitKey } from '../../lambdas/auth/protection/rate-limit.ts';
import { batchDelete } from '../../lambdas/platform/aws/batch-delete.ts';
import { openClients } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/**
 * Deletes a client, and the count that stands beside it. It is disabled first, so that nothing is counted of it any more,
 * and its record goes last: it may be repeated after it ended half-way. Returns it; `undefined` where there is none, or where it is
 * bound to another account than the one that is given.
 */
export async function eraseClient(target: Target, clientId: string, account?: string): Promise<Client | undefined> {
  const store = openClients(target);
  const client = await store.setClientStatus(clientId, 'disabled', account);
  if (!client) return undefined;
  const table = requireOutput(target, 'LockoutsTable');
  await batchDelete(target.dynamo, [clientLimitKey(table, clientId)]);
  await store.deleteClient(clientId);
  return client;
}
