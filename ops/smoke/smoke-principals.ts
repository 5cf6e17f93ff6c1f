import { smokeAccount } from '../../lambdas/auth/principals/account.ts';
import type { Client } from '../../lambdas/auth/principals/client.ts';
import type { User } from '../../lambdas/auth/principals/user.ts';
import type { MakeId } from '../../lambdas/platform/identifiers.ts';
import type { Identity } from '../../lambdas/smoke/service.ts';
import type { TestIdentity } from '../../lambdas/smoke/smoke-test.ts';
import { useLimitMs } from '../../lambdas/smoke/step-record.ts';
import { openClients, openSessions, openUsers } from '../stage/stores.ts';
import type { Target } from '../stage/target.ts';
import { eraseClient } from '../tenants/erase-client.ts';
import { eraseLogin, eraseUser, type UserData } from '../tenants/erase-user.ts';

/** The kind of a client and a user: of one test, or of the scheduled one. */
export type PrincipalKind = keyof typeof kinds;

/** Clients and users of the reserved account. */
export interface Principals {
  readonly clients: readonly Client[];
  readonly users: readonly User[];
}

/** Makes the client and the user of one test. */
export function makeTestIdentity(target: Target): Required<TestIdentity> {
  let opening: Promise<Identity> | undefined;
  const made = newNames('temporary', target.makeId);
  return {
    open: () => {
      opening = createIdentity(target, 'temporary', made);
      return opening;
    },
    close: async () => {
      await opening?.catch(() => undefined); // what is under way would be made after it was removed
      if (made.clientId !== undefined) await eraseClient(target, made.clientId);
      await removeUser(target, made.email);
    },
  };
}

/** Creates a client and a user. */
export async function createIdentity(
  target: Target,
  kind: PrincipalKind,
  names = newNames(kind, target.makeId),
): Promise<Identity> {
  const { client, clientSecret } = await openClients(target).createClient({
    name: kinds[kind].clientName,
    grants: ['password', 'refresh_token'],
    accountId: smokeAccount,
    graceSeconds: 0,
  });
  names.clientId = client.clientId;
  const password = target.makeId(43);
  await openUsers(target).createUser({ email: names.email, password, accountId: smokeAccount, role: 'admin' });
  return { clientId: client.clientId, clientSecret, username: names.email, password };
}

/** Removes what tests that were killed left behind. Those that may be under way keep theirs. Says what it did. */
export async function removeLeftOvers(target: Target): Promise<string> {
  const { clients, users } = await findPrincipals(target, 'temporary');
  const isOld = leftOverAt(target.clock.now());
  const old = { clients: clients.filter(isOld), users: users.filter(isOld) };
  const removed: string[] = [];
  for await (const name of removePrincipals(target, old)) removed.push(name);
  const kept = clients.length + users.length - removed.length;
  const others = kept === 0 ? '' : `; ${kept} of the last ${useLimitMs / 60_000} minutes may be in use`;
  return `${removed.length === 0 ? 'none' : `removed ${removed.join(', ')}`}${others}`;
}

/** Returns the predicate of what nobody can be making or using for a test any more. */
export function leftOverAt(now: number) {
  return ({ createdAt }: { readonly createdAt: number }): boolean => createdAt + useLimitMs < now;
}

/** Finds the clients and users of a kind. */
export async function findPrincipals(target: Target, kind: PrincipalKind): Promise<Principals> {
  const { clientName, emailPrefix } = kinds[kind];
  const account = smokeAccount;
  const [clients, users] = await Promise.all([
    openClients(target).listClients({ account }),
    openUsers(target).listUsers({ account }),
  ]);
  return {
    clients: clients.filter(({ name }) => name === clientName),
    users: users.filter(({ email }) => email.startsWith(emailPrefix)),
  };
}

/** Deletes clients and users, one after another, and names each when it is gone. */
export async function* removePrincipals(target: Target, { clients, users }: Principals): AsyncGenerator<string> {
  for (const { clientId } of clients) {
    await eraseClient(target, clientId);
    yield `client ${clientId}`;
  }
  for (const { userId, email } of users) {
    await eraseUser(dataOf(target), userId);
    yield `user ${email}`;
  }
}

/** The names that mark clients and users of tests: the scheduled test keeps its own. */
const kinds = {
  temporary: { clientName: 'Smoke test', emailPrefix: 'test-' },
  standing: { clientName: 'Smoke test on a schedule', emailPrefix: 'schedule-' },
} as const;

/** The names of a client and a user. The client's is known once it was made. */
interface Names {
  readonly email: string;
  clientId?: string;
}

/** Nobody has an address under `.invalid` (RFC 6761). A random one cannot be locked by somebody else's guesses. */
function newNames(kind: PrincipalKind, makeId: MakeId): Names {
  return { email: `${kinds[kind].emailPrefix}${makeId(22).toLowerCase()}@smoke.invalid` };
}

/** Deletes a user, also one whose creation failed half-way. */
async function removeUser(target: Target, email: string): Promise<void> {
  const data = dataOf(target);
  const userId = await data.users.findOwner(email);
  if (userId === undefined) return;
  if (!(await eraseUser(data, userId))) await eraseLogin(data, userId, email);
}

/** Without failed logins: the test makes none, and may not use the MAC key. */
function dataOf(target: Target): UserData {
  return { users: openUsers(target), sessions: openSessions(target) };
}
