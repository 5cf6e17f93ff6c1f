import {
  type Identity,
  runSmokeTest,
  SmokeError,
  type SmokeResult,
  type Step,
} from '../../lambdas/smoke/smoke-test.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { CliError, describeError } from '../stage/operator.ts';
import { openQueues } from '../stage/queues.ts';
import { requireOutput, type Target } from '../stage/target.ts';
import { deleteLogin } from '../tenants/program-login.ts';
import { createIdentity, deleteParameter, readIdentity, storeIdentity } from './smoke-identity.ts';

interface TestOptions {
  /** The maximum duration in seconds. */
  readonly timeout: number;
  /** Ends the test early. The test still deletes its webhook. */
  readonly interruption: AbortSignal;
  readonly onStep: (step: Step) => void;
}

/**
 * Runs a smoke test against the target.
 * @throws {CliError} if the test failed, with the step, the reason and advice.
 */
export async function testStage({ target, recordResult }: AuditedTask, { timeout, interruption, onStep }: TestOptions) {
  const queues = openQueues(target);
  const end = new AbortController();
  const cancel = target.time.after(timeout * 1_000, () => end.abort(new SmokeError(`timed out after ${timeout} s`)));
  const interrupt = () => end.abort(new SmokeError('interrupted'));
  interruption.addEventListener('abort', interrupt, { once: true });
  if (interruption.aborted) interrupt();
  const identity = openIdentity(target);
  try {
    const result = await runSmokeTest(
      {
        ...target.time,
        authUrl: requireOutput(target, 'AuthUrl'),
        baseUrl: requireOutput(target, 'BaseUrl'),
        receiverUrl: requireOutput(target, 'SmokeReceiverUrl'),
        fetch,
        readIdentity: identity.open,
        publish: async (message, accountId) => {
          await queues.send('EventsQueueUrl', message, accountId);
        },
        describeError: error => describeError(error, target.unreachable),
        onStep,
        makeId: target.makeId,
      },
      end.signal,
    );
    if (result.deliveryId !== undefined) recordResult({ delivery: result.deliveryId });
    if (result.failure) throw failureError(target, result, result.failure);
    return result;
  } finally {
    cancel();
    interruption.removeEventListener('abort', interrupt);
    await identity.close();
  }
}

/**
 * Replaces the client and the user of smoke tests, and deletes the previous ones. A test that is running fails.
 * @throws {CliError} for a local run, which has no stored credentials.
 */
export async function rotateCredentials({ target, recordResult }: AuditedTask) {
  const parameter = target.outputs.SmokeCredentialsParameter;
  if (parameter === undefined) {
    throw new CliError(`${target.label} has no stored client and user to replace. Each smoke test creates new ones.`);
  }
  const previous = await readIdentity(target, parameter).catch(ignoreMalformed);
  const identity = await createIdentity(target);
  recordResult({ client: identity.clientId });
  await storeIdentity(target, parameter, identity);
  if (previous) await deleteLogin(target, previous);
  const { clientId, username } = identity;
  return { clientId, username, parameter, hasReplaced: previous !== undefined };
}

/**
 * Deletes the smoke-test parameter, client and user. Returns the names of the deleted items.
 *
 * @throws {CliError} if the operator does not confirm.
 */
export async function removeIdentity({ target, confirm, recordResult }: AuditedTask): Promise<readonly string[]> {
  await confirm(
    `This permanently deletes the smoke-test client, user and parameter of ${target.label}. Scheduled tests will fail.`,
  );
  const parameter = target.outputs.SmokeCredentialsParameter;
  if (parameter === undefined) return [];
  const identity = await readIdentity(target, parameter).catch(ignoreMalformed);
  if (identity) await deleteLogin(target, identity);
  await deleteParameter(target, parameter);
  const removed = [...(identity ? [`client ${identity.clientId}`, `user ${identity.username}`] : []), parameter];
  recordResult({ count: removed.length });
  return removed;
}

/** Opens the client and the user of a test. A stage stores them. A local run has no Parameter Store and creates new ones. */
function openIdentity(target: Target) {
  const parameter = target.outputs.SmokeCredentialsParameter;
  let opening: Promise<Identity> | undefined;
  return { open, close };

  function open(): Promise<Identity> {
    opening = parameter === undefined ? createIdentity(target) : openStored(target, parameter);
    return opening;
  }

  async function close(): Promise<void> {
    const identity = await opening?.catch(() => undefined); // the identity may not exist yet
    if (identity && parameter === undefined) await deleteLogin(target, identity);
  }
}

async function openStored(target: Target, parameter: string): Promise<Identity> {
  const storedIdentity = await readIdentity(target, parameter);
  if (storedIdentity) return storedIdentity;
  const identity = await createIdentity(target);
  await storeIdentity(target, parameter, identity);
  return identity;
}

function ignoreMalformed(error: unknown): undefined {
  if (!(error instanceof SmokeError)) throw error;
}

function failureError({ label }: Target, result: SmokeResult, failure: NonNullable<SmokeResult['failure']>) {
  const { steps, durationMs, deliveryId } = result;
  const { step, reason, hint } = failure;
  return new CliError(
    `the smoke test of ${label} failed at "${step}" after ${(durationMs / 1_000).toFixed(1)} s: ${reason}. Check ${hint}.`,
    { passed: false, ...failure, durationMs, deliveryId: deliveryId ?? null, steps },
  );
}
