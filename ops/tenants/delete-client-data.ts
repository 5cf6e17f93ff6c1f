import type { Client } from '../../lambdas/auth/principals/client.ts';
import { clientLimitKey } from '../../lambdas/auth/protection/rate-limit.ts';
import { openClients } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { batchDelete } from '../stores/batch-delete.ts';

/**
 * Deletes a client and its counter of failed logins. Disables the client first, so that no more logins are counted. Deletes
 * the client last, so that an interrupted deletion can be repeated. Returns `undefined` if the client does not exist or is
 * bound to another account.
 */
export async function deleteClientData(
  target: Target,
  clientId: string,
  account?: string,
): Promise<Client | undefined> {
  const store = openClients(target);
  const client = await store.setClientStatus(clientId, 'disabled', account);
  if (!client) return undefined;
  const table = requireOutput(target, 'LockoutsTable');
  await batchDelete(target.dynamo, [clientLimitKey(table, clientId)]);
  await store.deleteClient(clientId);
  return client;
}
