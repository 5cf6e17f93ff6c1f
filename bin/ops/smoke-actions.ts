import { setTimeout as pause } from 'node:timers/promises';
import { smokeAccount } from '../../lambdas/auth/principals/account.ts';
import type { Client } from '../../lambdas/auth/principals/client.ts';
import type { User } from '../../lambdas/auth/principals/user.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { longestTestMs, TestEnded } from '../../lambdas/smoke/ending.ts';
import { otherReceiver, ownReceiver } from '../../lambdas/smoke/receivers.ts';
import type { Identity } from '../../lambdas/smoke/service.ts';
import {
  runSmokeTest,
  type SmokeResult,
  type TestIdentity,
  type TestReceiver,
} from '../../lambdas/smoke/smoke-test.ts';
import type { Step } from '../../lambdas/smoke/step-record.ts';
import { CliError, describeError } from './cli-error.ts';
import { openParameters } from './parameters.ts';
import { openQueues } from './queues.ts';
import { openClients, openSessions, openUsers } from './stores.ts';
import { requireOutput, type Target } from './target.ts';
import { type Confirmed, confirm } from './terminal.ts';

/** How a test is run. */
export interface TestOptions {
  /** In seconds. */
  readonly timeout: number;
  readonly onStep: (step: Step) => void;
  /** Where Ctrl-C and the like arrive; default this process. */
  readonly signals?: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
}

/** A test that passed. */
export interface SmokeReport {
  /** The target's name in messages. */
  readonly label: string;
  readonly result: SmokeResult;
}

/** The client and the user that the scheduled test uses from now on. */
export interface RotatedCredentials {
  readonly clientId: string;
  readonly username: string;
  /** The parameter with their secrets. */
  readonly parameter: string;
  /** How many clients and users were deleted. */
  readonly removed: number;
}

/**
 * Runs a smoke test against the target.
 *
 * @throws {CliError} where it failed: at which step, why, and what to look at.
 */
export async function testStage(
  target: Target,
  { timeout, onStep, signals = process }: TestOptions,
): Promise<SmokeReport> {
  const receiver = receiverOf(target);
  const queues = openQueues(target);
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(new TestEnded(`not done after ${timeout} s`)), timeout * 1_000);
  const interrupt = () => ended.abort(new TestEnded('interrupted', 'nothing: the test itself found no fault'));
  // Further signals change nothing: npm sends Ctrl-C on, so that it arrives twice, and tidying up is over within 30 s.
  for (const name of interruptions) signals.on(name, interrupt);
  try {
    const result = await runSmokeTest(
      {
        authUrl: requireOutput(target, 'AuthUrl'),
        baseUrl: requireOutput(target, 'BaseUrl'),
        fetch,
        removeLeftOvers: () => removeLeftOvers(target),
        identity: makeIdentity(target),
        receiver,
        publish: async (body, accountId) => {
          await queues.send('EventsQueueUrl', body, accountId);
        },
        describeError: error => describeError(error, target.unreachable),
        onStep,
        now: systemClock,
        makeId: randomId,
        pause: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
      },
      ended.signal,
    );
    if (!result.failure) return { label: target.label, result };
    throw failed(target, result, result.failure);
  } finally {
    clearTimeout(timer);
    for (const name of interruptions) signals.off(name, interrupt);
  }
}

/**
 * Gives the scheduled test another client and user, and deletes the ones before. A test that runs at this moment fails.
 *
 * @throws {CliError} where the stage has no scheduled test.
 */
export async function rotateCredentials(target: Target): Promise<RotatedCredentials> {
  const parameter = target.outputs.SmokeCredentialsParameter;
  if (parameter === undefined) {
    throw new CliError(
      `${target.label} tests itself on no schedule: set smokeSchedule in its file, and deploy it first.`,
    );
  }
  const identity = await createIdentity(target, kinds.standing);
  await openParameters(target).replace(parameter, JSON.stringify(identity));
  const { clientId, username } = identity;
  const { clients, users } = await findPrincipals(target, 'standing');
  const removed = await removePrincipals(target, {
    clients: clients.filter(client => client.clientId !== clientId),
    users: users.filter(user => user.email !== username),
  });
  return { clientId, username, parameter, removed: removed.length };
}

/**
 * Removes all that smoke tests keep on a stage: parameters, clients and users. Tests that are under way fail.
 *
 * @throws {CliError} where nobody confirmed.
 */
export async function removeAll(target: Target, { yes }: Confirmed): Promise<{ readonly removed: readonly string[] }> {
  await confirm(
    `This removes the clients, users and parameters of the smoke tests of ${target.label}; its scheduled test fails from then on.`,
    yes,
  );
  const { SmokeReceiverKeyParameter, SmokeCredentialsParameter } = target.outputs;
  const parameters = [SmokeReceiverKeyParameter, SmokeCredentialsParameter].filter(name => name !== undefined);
  for (const name of parameters) await openParameters(target).remove(name);
  const found = await Promise.all([findPrincipals(target, 'standing'), findPrincipals(target, 'temporary')]);
  const removed = await removePrincipals(target, {
    clients: found.flatMap(({ clients }) => clients),
    users: found.flatMap(({ users }) => users),
  });
  return { removed: [...parameters, ...removed] };
}

const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function failed({ label }: Target, result: SmokeResult, { step, reason, lookAt }: NonNullable<SmokeResult['failure']>) {
  const { steps, durationMs, deliveryId } = result;
  return new CliError(
    `the smoke test of ${label} failed at "${step}" after ${(durationMs / 1_000).toFixed(1)} s: ${reason}. Look at ${lookAt}.`,
    { passed: false, step, reason, lookAt, durationMs, deliveryId: deliveryId ?? null, steps },
  );
}

/** @throws {CliError} where the target has none, or it is one of the service's own hosts. */
function receiverOf(target: Target): TestReceiver {
  const { SmokeReceiverUrl: url, SmokeReceiverKeyParameter: parameter } = target.outputs;
  if (url === undefined) {
    throw new CliError(`${target.label} has no receiver for smoke tests: deploy or start this version first.`);
  }
  const host = URL.parse(url)?.host;
  const own = ['AuthUrl', 'BaseUrl'].map(name => URL.parse(requireOutput(target, name))?.host);
  if (host === undefined || own.includes(host)) {
    throw new CliError(
      `the receiver of ${target.label} is ${url}, which is Emissor itself: it never delivers to its own hosts. Change smokeReceiverUrl in the stage's file, or leave it out, and deploy.`,
    );
  }
  if (parameter === undefined) return otherReceiver(url, host === localReceiver, randomId);
  return ownReceiver({
    url,
    readSecret: () => openParameters(target).readOrMake(parameter, () => randomId(43)),
    now: systemClock,
    makeId: randomId,
  });
}

/** The receiver of a local run answers with receipts. */
const localReceiver = 'receiver.example.com';

/** How clients and users of tests are known: the scheduled test keeps its own. */
const kinds = {
  temporary: { clientName: 'Smoke test', emailPrefix: 'test-' },
  standing: { clientName: 'Smoke test on a schedule', emailPrefix: 'schedule-' },
} as const;

/** The client and the user of one test. */
function makeIdentity(target: Target): Required<TestIdentity> {
  let opening: Promise<Identity> | undefined;
  const made = newNames(kinds.temporary);
  return {
    open: () => {
      opening = createIdentity(target, kinds.temporary, made);
      return opening;
    },
    close: async () => {
      await opening?.catch(() => undefined); // what is under way would be made after it was removed
      if (made.clientId !== undefined) await openClients(target).deleteClient(made.clientId);
      await removeUser(target, made.email);
    },
  };
}

/** The names of a client and a user. The client's is known once it was made. */
interface Names {
  readonly email: string;
  clientId?: string;
}

/** Nobody has an address under `.invalid` (RFC 6761). A random one cannot be locked by somebody else's guesses. */
function newNames({ emailPrefix }: Kind): Names {
  return { email: `${emailPrefix}${randomId(22).toLowerCase()}@smoke.invalid` };
}

type Kind = (typeof kinds)[keyof typeof kinds];

async function createIdentity(target: Target, kind: Kind, names = newNames(kind)): Promise<Identity> {
  const { client, clientSecret } = await openClients(target).createClient({
    name: kind.clientName,
    grants: ['password', 'refresh_token'],
    accountId: smokeAccount,
    graceSeconds: 0,
  });
  names.clientId = client.clientId;
  const password = randomId(43);
  await openUsers(target).createUser({ email: names.email, password, accountId: smokeAccount, role: 'admin' });
  return { clientId: client.clientId, clientSecret, username: names.email, password };
}

/** Removes what tests that were killed left behind. Those that may be under way keep theirs. Says what it did. */
async function removeLeftOvers(target: Target): Promise<string> {
  const { clients, users } = await findPrincipals(target, 'temporary');
  const isOld = ({ createdAt }: { readonly createdAt: number }) => createdAt + longestTestMs < Date.now();
  const removed = await removePrincipals(target, { clients: clients.filter(isOld), users: users.filter(isOld) });
  const kept = clients.length + users.length - removed.length;
  const others = kept === 0 ? '' : `; ${kept} of the last ${longestTestMs / 60_000} minutes may be in use`;
  return `${removed.length === 0 ? 'none' : `removed ${removed.join(', ')}`}${others}`;
}

/** Clients and users of the reserved account. */
interface Principals {
  readonly clients: readonly Client[];
  readonly users: readonly User[];
}

async function findPrincipals(target: Target, kind: keyof typeof kinds): Promise<Principals> {
  const { clientName, emailPrefix } = kinds[kind];
  const [clients, users] = await Promise.all([openClients(target).listClients(), openUsers(target).listUsers()]);
  return {
    clients: clients.filter(({ accountId, name }) => accountId === smokeAccount && name === clientName),
    users: users.filter(({ accountId, email }) => accountId === smokeAccount && email.startsWith(emailPrefix)),
  };
}

/** Gives their names. */
async function removePrincipals(target: Target, { clients, users }: Principals): Promise<readonly string[]> {
  for (const { clientId } of clients) await openClients(target).deleteClient(clientId);
  for (const { email } of users) await removeUser(target, email);
  return [...clients.map(({ clientId }) => `client ${clientId}`), ...users.map(({ email }) => `user ${email}`)];
}

/** Deletes a user, also one whose creation failed half-way. */
async function removeUser(target: Target, email: string): Promise<void> {
  const users = openUsers(target);
  const userId = await users.findOwner(email);
  if (userId === undefined) return;
  await users.deleteUser(userId);
  await openSessions(target).deleteSessions(userId);
  await users.releaseEmail(userId, email);
}
