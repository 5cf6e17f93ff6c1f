import { DeleteParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { smokeAccount } from '../../lambdas/auth/principals/account.ts';
import { readParameter } from '../../lambdas/platform/deployment/parameters.ts';
import { type Identity, parseIdentity } from '../../lambdas/smoke/smoke-test.ts';
import { isNamed } from '../stage/operator.ts';
import { openClients, openSessions, openUsers } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { eraseClient } from '../tenants/erase-client.ts';
import { eraseUser } from '../tenants/erase-user.ts';

/** Creates the client and the user of smoke tests. The address is random and under `.invalid` (RFC 6761), so that it belongs to no person. */
export async function createIdentity(target: Target): Promise<Identity> {
  const username = `${target.makeId(22).toLowerCase()}@smoke.invalid`;
  const password = target.makeId(43);
  const { client, clientSecret } = await openClients(target).createClient({
    name: 'Smoke test',
    grants: ['password'],
    accountId: smokeAccount,
    graceSeconds: 0,
  });
  await openUsers(target).createUser({ email: username, password, accountId: smokeAccount, role: 'admin' });
  return { clientId: client.clientId, clientSecret, username, password };
}

/** Deletes a client and a user. Failed logins stay until they expire: the test may not use the MAC key. */
export async function deleteIdentity(target: Target, { clientId, username }: Identity): Promise<void> {
  await eraseClient(target, clientId);
  const users = openUsers(target);
  const user = await users.findUserByEmail(username);
  if (user) await eraseUser({ users, sessions: openSessions(target) }, user.userId);
}

/** Reads the stored client and user; `undefined` if there are none. */
export async function readIdentity(target: Target, parameter: string): Promise<Identity | undefined> {
  const stored = await readParameter(target.connect(SSMClient), parameter);
  return stored === undefined ? undefined : parseIdentity(stored);
}

/** Stores a client and a user, encrypted with the key of the stage. */
export async function storeIdentity(target: Target, parameter: string, identity: Identity): Promise<void> {
  const Value = JSON.stringify(identity);
  const KeyId = requireOutput(target, 'KeyArn');
  const ssm = target.connect(SSMClient);
  await ssm.send(new PutParameterCommand({ Name: parameter, Value, Type: 'SecureString', KeyId, Overwrite: true }));
}

/** Deletes the parameter. One that does not exist counts as deleted. */
export async function deleteParameter(target: Target, parameter: string): Promise<void> {
  try {
    await target.connect(SSMClient).send(new DeleteParameterCommand({ Name: parameter }));
  } catch (error) {
    if (!isNamed(error, 'ParameterNotFound')) throw error;
  }
}
