import {
  otherReceiver,
  ownReceiver,
  runSmokeTest,
  type SmokeResult,
  type TestReceiver,
} from '../../lambdas/smoke/smoke-test.ts';
import { type Step, TestEnded } from '../../lambdas/smoke/step-record.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { CliError, describeError } from '../stage/operator.ts';
import { openQueues } from '../stage/queues.ts';
import { outputsOfStacks } from '../stage/stage-stacks.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { openParameters } from './parameters.ts';
import {
  createIdentity,
  findPrincipals,
  leftOverAt,
  makeTestIdentity,
  removeLeftOvers,
  removePrincipals,
} from './smoke-principals.ts';

interface TestOptions {
  /** In seconds. */
  readonly timeout: number;
  /** Ends the test early; it tidies up all the same. */
  readonly interruption: AbortSignal;
  readonly onStep: (step: Step) => void;
}

/**
 * Runs a smoke test against the target.
 *
 * @throws {CliError} where it failed: at which step, why, and what to look at.
 */
export async function testStage({ target, nameDone }: AuditedTask, { timeout, interruption, onStep }: TestOptions) {
  const receiver = receiverOf(target);
  const { time, makeId } = target;
  const queues = openQueues(target);
  const ended = new AbortController();
  const endLimit = time.after(timeout * 1_000, () => ended.abort(new TestEnded(`not done after ${timeout} s`)));
  const interrupt = () => ended.abort(new TestEnded('interrupted', 'who or what interrupted it, if it was not you'));
  interruption.addEventListener('abort', interrupt, { once: true });
  if (interruption.aborted) interrupt();
  try {
    const result = await runSmokeTest(
      {
        authUrl: requireOutput(target, 'AuthUrl'),
        baseUrl: requireOutput(target, 'BaseUrl'),
        fetch,
        removeLeftOvers: () => removeLeftOvers(target),
        identity: makeTestIdentity(target),
        receiver,
        publish: async (body, accountId) => {
          await queues.send('EventsQueueUrl', body, accountId);
        },
        describeError: error => describeError(error, target.unreachable),
        onStep,
        ...time,
        makeId,
      },
      ended.signal,
    );
    if (result.deliveryId !== undefined) nameDone({ delivery: result.deliveryId });
    if (!result.failure) return result;
    throw failed(target, result, result.failure);
  } finally {
    endLimit();
    interruption.removeEventListener('abort', interrupt);
  }
}

/**
 * Makes another client and user for the scheduled test, and deletes the ones before: those that the parameter named, and what was left
 * behind. Others may be those of a command that stores them in a moment. A test that runs at this moment fails.
 *
 * @throws {CliError} where the stage has no scheduled test.
 */
export async function rotateCredentials({ target, nameDone }: AuditedTask) {
  const parameter = target.outputs.SmokeCredentialsParameter;
  if (parameter === undefined) {
    throw new CliError(
      `${target.label} tests itself on no schedule: set smokeSchedule in its file, and deploy it first.`,
    );
  }
  const identity = await createIdentity(target, 'standing');
  nameDone({ client: identity.clientId });
  const parameters = openParameters(target);
  const replaced = (await parameters.read(parameter)) ?? '';
  await parameters.replace(parameter, JSON.stringify(identity));
  const { clientId, username } = identity;
  const { clients, users } = await findPrincipals(target, 'standing');
  const isLeft = leftOverAt(target.clock.now());
  const before = {
    clients: clients.filter(client => replaced.includes(client.clientId) || isLeft(client)),
    users: users.filter(user => replaced.includes(user.email) || isLeft(user)),
  };
  const removed: string[] = [];
  for await (const name of removePrincipals(target, before)) removed.push(name);
  return { clientId, username, parameter, removed: removed.length };
}

/**
 * Removes all that smoke tests keep on a stage: parameters, clients and users. Tests that are under way fail.
 *
 * @throws {CliError} where nobody confirmed.
 */
export async function removeAll({ target, confirm, nameDone }: AuditedTask): Promise<readonly string[]> {
  await confirm(
    `This removes the clients, users and parameters of the smoke tests of ${target.label}; a scheduled test fails from then on.`,
  );
  // Also of a stack that the stage's file asks for no more: its outputs are none of the target's.
  const outputs = { ...target.outputs, ...outputsOfStacks(target.deployed?.stacks ?? []) };
  const { SmokeReceiverKeyParameter, SmokeCredentialsParameter } = outputs;
  const parameters = [SmokeReceiverKeyParameter, SmokeCredentialsParameter].filter(name => name !== undefined);
  const removed: string[] = [];
  const note = (name: string) => nameDone({ count: removed.push(name) });
  for (const name of parameters) {
    await openParameters(target).remove(name);
    note(name);
  }
  const found = await Promise.all([findPrincipals(target, 'standing'), findPrincipals(target, 'temporary')]);
  const all = { clients: found.flatMap(({ clients }) => clients), users: found.flatMap(({ users }) => users) };
  for await (const name of removePrincipals(target, all)) note(name);
  return removed;
}

function failed({ label }: Target, result: SmokeResult, { step, reason, lookAt }: NonNullable<SmokeResult['failure']>) {
  const { steps, durationMs, deliveryId } = result;
  return new CliError(
    `the smoke test of ${label} failed at "${step}" after ${(durationMs / 1_000).toFixed(1)} s: ${reason}. Look at ${lookAt}.`,
    { passed: false, step, reason, lookAt, durationMs, deliveryId: deliveryId ?? null, steps },
  );
}

/** @throws {CliError} where the target has none, or it is one of the service's own hosts. */
function receiverOf(target: Target): TestReceiver {
  const { clock, makeId } = target;
  const own = ['AuthUrl', 'BaseUrl'].map(name => URL.parse(requireOutput(target, name))?.host);
  const { SmokeReceiverUrl: url, SmokeReceiverKeyParameter: parameter } = target.outputs;
  if (url === undefined) {
    throw new CliError(`${target.label} has no receiver for smoke tests: deploy or start this version first.`);
  }
  const host = URL.parse(url)?.host;
  if (host === undefined || own.includes(host)) {
    throw new CliError(
      `the receiver of ${target.label} is ${url}, which is Emissor itself: it never delivers to its own hosts. Change smokeReceiverUrl in the stage's file, or leave it out, and deploy.`,
    );
  }
  if (parameter === undefined) return otherReceiver(url, host === localReceiver, makeId);
  return ownReceiver({
    url,
    readSecret: () => openParameters(target).readOrMake(parameter, () => makeId(43)),
    now: clock.now,
    makeId,
  });
}

/** The receiver of a local run answers with receipts. */
const localReceiver = 'receiver.example.com';
