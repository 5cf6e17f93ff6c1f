import { KMSClient } from '@aws-sdk/client-kms';
import { rotateKeysEnvironment } from '../../lambdas/auth/environment.ts';
import { makeKeyRotation, type RotationSettings } from '../../lambdas/auth/keys/key-rotation.ts';
import { makeLockout } from '../../lambdas/auth/protection/lockout.ts';
import { makeSessionStore } from '../../lambdas/auth/sessions/session-store.ts';
import { makeSlowSinceReader, type SlownessOwner } from '../../lambdas/delivery/lanes/slow-since.ts';
import { makeRunReplay } from '../../lambdas/delivery/replay/replay-runner.ts';
import { makeStartReplay } from '../../lambdas/delivery/replay/replay-start.ts';
import { makeReplayStore } from '../../lambdas/delivery/replay/replay-store.ts';
import { makeReadHistory } from '../../lambdas/delivery/store/delivery-history.ts';
import { makeDeliveryStore } from '../../lambdas/delivery/store/delivery-store.ts';
import { makeFindWebhook } from '../../lambdas/delivery/store/find-webhook.ts';
import { makeReadResponses } from '../../lambdas/delivery/store/read-responses.ts';
import { batchGetLimit } from '../../lambdas/platform/aws/batch-get.ts';
import { readEnvironment } from '../../lambdas/platform/environment.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import { makeKeyring } from '../../lambdas/platform/keyring.ts';
import { makeClientStore } from '../stores/client-store.ts';
import { makeOperatorStore } from '../stores/operator-store.ts';
import { makeSessionList } from '../stores/session-list.ts';
import { makeUserStore } from '../stores/user-store.ts';
import { CliError } from './operator.ts';
import { openRetryQueue } from './queues.ts';
import { requireOutput, type Target } from './target.ts';

export function openClients(target: Target) {
  return makeClientStore({ ...connect(target), table: requireOutput(target, 'ClientsTable') });
}

export function openUsers(target: Target) {
  return makeUserStore({
    ...connect(target),
    hash: target.hashPassword,
    tables: { users: requireOutput(target, 'UsersTable'), credentials: requireOutput(target, 'CredentialsTable') },
  });
}

export function openSessions(target: Target) {
  const parts = { ...connect(target), table: requireOutput(target, 'SessionsTable') };
  return { ...makeSessionList(parts), ...makeSessionStore(parts) };
}

/** Opens a keyring that lists keys without unwrapping them. A new keyring reads the table again. */
export function openKeyring(target: Target) {
  return makeKeyring(keyringIn(target));
}

/** Opens the target's lockout. Reads the MAC key first, so operators without access to it fail before any change. */
export async function openLockout(target: Target) {
  const keyringParts = keyringIn(target);
  const keyring = makeKeyring({ ...keyringParts, kms: connectKms(target) });
  await keyring.open(await keyring.active('mac'));
  return makeLockout({ ...connect(target), keyring, table: requireOutput(target, 'LockoutsTable') });
}

/** Opens the target's key rotation, with the settings of its scheduled function. */
export function openKeyRotation(target: Target) {
  return makeKeyRotation({ ...connect(target), ...rotationSettings(target), kms: connectKms(target) });
}

function rotationSettings(target: Target): RotationSettings {
  try {
    const environment = readEnvironment(rotateKeysEnvironment, JSON.parse(requireOutput(target, 'RotateKeysSettings')));
    return {
      ...environment,
      table: environment.keyringTable,
      algorithm: environment.signingAlgorithm,
    };
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${target.label} has key settings from another version. Deploy or start this version first.`);
  }
}

export function openWebhooks(target: Target) {
  return makeOperatorStore({ ...connect(target), table: requireOutput(target, 'WebhooksTable') });
}

export function openDeliveries(target: Target) {
  const connection = connect(target);
  const { dynamo } = connection;
  const table = requireOutput(target, 'DeliveriesTable');
  const store = makeDeliveryStore({ ...connection, table });
  const { create, read, update } = store;
  return {
    create,
    read,
    readResponses: makeReadResponses({ ...connection, table }),
    update,
    history: makeReadHistory({ dynamo, table, store }),
    findWebhook: makeFindWebhook(dynamo, requireOutput(target, 'WebhooksTable')),
  };
}

export function openReplayStore(target: Target) {
  return makeReplayStore({ ...connect(target), table: requireOutput(target, 'DeliveriesTable') });
}

/** Opens the target's replays, with the code that the service runs. */
export function openReplays(target: Target) {
  const { findWebhook, history: readHistory, update } = openDeliveries(target);
  const { makeId, pause } = target;
  const replays = openReplayStore(target);
  const shared = { ...noTelemetry, replays, findWebhook, now: target.time.now };
  const run = makeRunReplay({ ...shared, readHistory, store: { update }, retryQueue: openRetryQueue(target) });
  return { findWebhook, findLatest: replays.findLatest, pause, start: makeStartReplay({ ...shared, run, makeId }) };
}

/** Returns the time at which each owner moved to the slow lane, in milliseconds since the epoch, if it did. */
export async function readSlowSince(
  target: Target,
  owners: readonly SlownessOwner[],
): Promise<readonly (number | undefined)[]> {
  const read = makeSlowSinceReader({ dynamo: target.dynamo, table: requireOutput(target, 'DeliveriesTable') });
  const times: (number | undefined)[] = [];
  for await (const some of inBatches(owners, batchGetLimit)) times.push(...(await read(some)));
  return times;
}

function keyringIn(target: Target) {
  return { ...connect(target), table: requireOutput(target, 'KeyringTable') };
}

function connectKms(target: Target): KMSClient {
  return target.connect(KMSClient, 'KmsEndpoint');
}

function connect(target: Target) {
  return { ...target.time, dynamo: target.dynamo, makeId: target.makeId };
}

/** Failures are not logged, because the sweeper continues running replays every minute. */
const noTelemetry = { log: { info: () => {}, warn: () => {}, error: () => {} }, count: () => {} };
