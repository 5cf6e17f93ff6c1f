import { composeRotateKeys } from '../../../lambdas/auth/keys/rotate-keys.composition.ts';
import { type HashParameters, makePasswordHashing } from '../../../lambdas/auth/principals/password-hash.ts';
import { makeLockout } from '../../../lambdas/auth/protection/lockout.ts';
import { makeRandomIds } from '../../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { makeTelemetry } from '../../../lambdas/platform/telemetry.ts';
import { makeClientStore } from '../../../ops/stores/client-store.ts';
import { makeUserStore } from '../../../ops/stores/user-store.ts';
import { keyRotation } from '../set-up.ts';
import { minute } from '../times.ts';
import type { Population, WorldClient, WorldUser } from './population.ts';
import type { TokenRuntime } from './token-stage.ts';

export type Command =
  | { readonly name: keyof typeof userCommands; readonly user: WorldUser }
  | { readonly name: keyof typeof clientCommands; readonly client: WorldClient };

/** Creates a function that runs operators' commands with the same stores as the operators' CLI. */
export function makeOperators(
  runtime: TokenRuntime,
  hashParameters?: HashParameters,
): (command: Command) => Promise<void> {
  const stores = makeStores(runtime, hashParameters);

  return async function operate(command) {
    if ('user' in command) await userCommands[command.name](stores, command.user);
    else await clientCommands[command.name](stores, command.client);
  };
}

/** Creates a function that fills the tables with keys, clients and users. The password hashes have outdated parameters. */
export function makeTokenSetUp(runtime: TokenRuntime, { clients, users }: Population): () => Promise<void> {
  const { dynamo, time, random } = runtime;
  const telemetry = makeTelemetry('rotate-keys', 'rotate-keys', time.now);
  const rotateKeys = composeRotateKeys(keyRotation, runtime, telemetry);
  const operate = makeOperators(runtime, { memory: 19_456, passes: 1, parallelism: 1 });
  const keyring = makeKeyring({ ...runtime, ...time, table: 'Keyring' });
  const now = () => time.now() - 25 * 60 * minute;
  const lockout = makeLockout({ dynamo, table: 'Lockouts', keyring, makeId: makeRandomIds(random), now });

  return async function setUp() {
    await rotateKeys();
    for (const client of Object.values(clients)) await operate({ name: 'create-client', client });
    for (const user of Object.values(users)) await operate({ name: 'create-user', user });
    for (const { clientId } of [clients.web, clients.mobile, clients.once]) {
      const key = await lockout.keyOf(clientId, users.dormant.email);
      for (let failure = 0; failure < 8; failure += 1) await lockout.recordFailure(key, lockout.failuresIn(undefined));
    }
  };
}

type Action<Subject> = (stores: ReturnType<typeof makeStores>, subject: Subject) => Promise<unknown>;

function makeStores(runtime: TokenRuntime, hashParameters?: HashParameters) {
  const { dynamo, time, random } = runtime;
  const makeId = makeRandomIds(random);
  const { hash } = makePasswordHashing(runtime, hashParameters);
  const tables = { users: 'Users', credentials: 'Credentials' };
  const keyring = makeKeyring({ ...runtime, ...time, table: 'Keyring' });
  return {
    clients: makeClientStore({ ...time, dynamo, table: 'Clients', makeId }),
    users: makeUserStore({ ...time, dynamo, tables, makeId, hash }),
    lockout: makeLockout({ ...time, dynamo, table: 'Lockouts', keyring, makeId }),
  };
}

const userCommands = {
  'create-user': async ({ users }, user) => {
    user.userId = (await users.createUser(user)).userId;
  },
  'set-password': async ({ users, lockout }, { userId, email, password }) => {
    const user = await users.setUserPassword(userId, password);
    await lockout.unlock(user?.email ?? email); // as `ops users set-password` does
  },
  'set-email': ({ users }, { userId, email }) => users.setUserEmail(userId, email),
  'make-admin': ({ users }, { userId }) => users.setUserRole(userId, 'admin'),
  'make-member': ({ users }, { userId }) => users.setUserRole(userId, 'member'),
  'disable-user': ({ users }, { userId }) => users.setUserStatus(userId, 'disabled'),
  'enable-user': ({ users }, { userId }) => users.setUserStatus(userId, 'enabled'),
  'end-user-sessions': ({ users }, { userId }) => users.endUserSessions(userId),
  unlock: ({ lockout }, { email }) => lockout.unlock(email),
} satisfies Record<string, Action<WorldUser>>;

const clientCommands = {
  'create-client': async ({ clients }, newClient) => {
    const { client, clientSecret } = await clients.createClient(newClient);
    Object.assign(newClient, { clientId: client.clientId, clientSecret });
  },
  'disable-client': ({ clients }, { clientId }) => clients.setClientStatus(clientId, 'disabled'),
  'enable-client': ({ clients }, { clientId }) => clients.setClientStatus(clientId, 'enabled'),
  'end-client-sessions': ({ clients }, { clientId }) => clients.endClientSessions(clientId),
  'only-refresh': ({ clients }, { clientId }) => clients.updateClient(clientId, { grants: ['refresh_token'] }),
  'unbind-client': ({ clients }, { clientId }) => clients.updateClient(clientId, { accountId: null }),
} satisfies Record<string, Action<WorldClient>>;
