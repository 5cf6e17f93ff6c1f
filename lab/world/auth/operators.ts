import { composeRotateKeys } from '../../../lambdas/auth/keys/rotate-keys.composition.ts';
import { makeClientStore } from '../../../lambdas/auth/principals/client-store.ts';
import { type HashParameters, makePasswordHashing } from '../../../lambdas/auth/principals/password-hash.ts';
import type { Role } from '../../../lambdas/auth/principals/user.ts';
import { makeUserStore } from '../../../lambdas/auth/principals/user-store.ts';
import { makeLockout } from '../../../lambdas/auth/protection/lockout.ts';
import { makeRandomIds } from '../../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { makeTelemetry } from '../../../lambdas/platform/telemetry.ts';
import { keyRotation } from '../set-up.ts';
import { minute } from '../times.ts';
import type { Population, WorldClient, WorldUser } from './population.ts';
import type { TokenOutside } from './token-stage.ts';

export type Command =
  | { readonly name: 'create-client'; readonly client: WorldClient }
  | { readonly name: 'create-user'; readonly user: WorldUser }
  | { readonly name: 'set-password'; readonly user: WorldUser; readonly password: string }
  | { readonly name: 'set-role'; readonly user: WorldUser; readonly role: Role }
  | { readonly name: 'disable-user' | 'enable-user' | 'end-user-sessions' | 'unlock'; readonly user: WorldUser }
  | {
      readonly name: 'disable-client' | 'enable-client' | 'end-client-sessions' | 'only-refresh' | 'unbind-client';
      readonly client: WorldClient;
    };

/** Makes the function that does what operators ask for, by the stores that their command line has. */
export function makeOperators(
  outside: TokenOutside,
  hashParameters?: HashParameters,
): (command: Command) => Promise<void> {
  const { dynamo, time, random } = outside;
  const makeId = makeRandomIds(random);
  const clients = makeClientStore({ ...time, dynamo, table: 'Clients', makeId });
  const { hash } = makePasswordHashing(outside, hashParameters);
  const tables = { users: 'Users', credentials: 'Credentials' };
  const users = makeUserStore({ ...time, dynamo, tables, makeId, hash });
  const keyring = makeKeyring({ ...outside, ...time, table: 'Keyring' });
  const lockout = makeLockout({ ...time, dynamo, table: 'Lockouts', keyring, makeId });

  return async function operate(command) {
    switch (command.name) {
      case 'create-client':
        return createClient(command.client);
      case 'create-user':
        command.user.userId = (await users.createUser(command.user)).userId;
        return;
      case 'set-password':
        await users.setUserPassword(command.user.userId, command.password);
        await lockout.unlock(command.user.email); // as `ops users set-password` does
        return;
      case 'set-role':
        await users.setUserRole(command.user.userId, command.role);
        return;
      case 'disable-user':
      case 'enable-user':
        await users.setUserStatus(command.user.userId, command.name === 'enable-user' ? 'enabled' : 'disabled');
        return;
      case 'end-user-sessions':
        await users.endUserSessions(command.user.userId);
        return;
      case 'unlock':
        await lockout.unlock(command.user.email);
        return;
      case 'disable-client':
      case 'enable-client':
        await clients.setClientStatus(
          command.client.clientId,
          command.name === 'enable-client' ? 'enabled' : 'disabled',
        );
        return;
      case 'end-client-sessions':
        await clients.endClientSessions(command.client.clientId);
        return;
      case 'only-refresh':
        await clients.updateClient(command.client.clientId, { grants: ['refresh_token'] });
        return;
      case 'unbind-client':
        await clients.updateClient(command.client.clientId, { accountId: null });
    }
  };

  async function createClient(described: WorldClient): Promise<void> {
    const { client, clientSecret } = await clients.createClient(described);
    Object.assign(described, { clientId: client.clientId, clientSecret });
  }
}

/** Makes the function that fills the tables of a world of tokens: the first keys, the clients, and users with hashes of former parameters. */
export function makeTokenSetUp(outside: TokenOutside, { clients, users }: Population): () => Promise<void> {
  const { dynamo, time, random } = outside;
  const telemetry = makeTelemetry('rotate-keys', 'rotate-keys', time.now);
  const rotateKeys = composeRotateKeys(keyRotation, outside, telemetry);
  const operate = makeOperators(outside, { memory: 19_456, passes: 1, parallelism: 1 });
  const keyring = makeKeyring({ ...outside, ...time, table: 'Keyring' });
  const now = () => time.now() - 25 * 60 * minute;
  const lockout = makeLockout({ dynamo, table: 'Lockouts', keyring, makeId: makeRandomIds(random), now });

  return async function setUp() {
    await rotateKeys();
    for (const client of Object.values(clients)) await operate({ name: 'create-client', client });
    for (const user of Object.values(users)) await operate({ name: 'create-user', user });
    for (const { clientId } of [clients.web, clients.mobile, clients.once]) {
      const key = await lockout.keyOf(clientId, users.dormant.email);
      for (let failure = 0; failure < 8; failure += 1)
        await lockout.countFailure(key, lockout.failuresIn(key, undefined));
    }
  };
}
