import type { Identity } from '../../lambdas/smoke/smoke-test.ts';
import { openClients, openSessions, openUsers } from '../stage/stores.ts';
import type { Target } from '../stage/target.ts';
import type { NewClient } from '../stores/client-store.ts';
import { deleteClientData } from './delete-client-data.ts';
import { deleteUserData } from './delete-user-data.ts';

/**
 * Creates a client and an admin of an account for the logins of a program.
 * @param domain - the domain of the user's random address. A domain under `.invalid` (RFC 6761) belongs to no person.
 */
export async function createLogin(
  target: Target,
  { account, domain, ...client }: Omit<NewClient, 'accountId' | 'grants'> & { account: string; domain: string },
): Promise<Identity> {
  const username = `${target.makeId(22).toLowerCase()}@${domain}`;
  const password = target.makeId(43);
  const newClient = { ...client, grants: ['password'] as const, accountId: account, graceSeconds: 0 };
  const created = await openClients(target).createClient(newClient);
  try {
    await openUsers(target).createUser({ email: username, password, accountId: account, role: 'admin' });
  } catch (error) {
    await deleteClientData(target, created.client.clientId);
    throw error;
  }
  return { clientId: created.client.clientId, clientSecret: created.clientSecret, username, password };
}

/** Deletes a client and a user. Failed logins stay until they expire, because callers may have no access to the MAC key. */
export async function deleteLogin(target: Target, { clientId, username }: Identity): Promise<void> {
  await deleteClientData(target, clientId);
  const users = openUsers(target);
  const user = await users.findUserByEmail(username);
  if (user) await deleteUserData({ users, sessions: openSessions(target) }, user.userId);
}
