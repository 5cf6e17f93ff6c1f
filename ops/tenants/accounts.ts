import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { timeAroundAttempt } from '../../lambdas/delivery/consumer/batch-consumer.ts';
import { headPart } from '../../lambdas/delivery/store/head-key.ts';
import type { AuditedTask } from '../audit/audit.ts';
import { CliError } from '../stage/operator.ts';
import { inFlightElsewhere, openQueues } from '../stage/queues.ts';
import { listedCounts } from '../stage/sentences.ts';
import { openLockout, openSessions, openUsers, openWebhooks } from '../stage/stores.ts';
import type { Task } from '../stage/target.ts';
import { batchDelete } from '../stores/batch-delete.ts';
import { deleteDeadLetters } from './account-dead-letters.ts';
import { type AccountItems, openAccountItems } from './account-items.ts';
import { deliveryKeysOf, ownKeysOf } from './account-keys.ts';
import { makeRecordReaders } from './account-records.ts';
import { deleteClientData } from './delete-client-data.ts';
import { deleteUserData } from './delete-user-data.ts';
import { type ExportedKind, itemKinds, kindsWith } from './item-kinds.ts';

/**
 * Exports all data of an account to a file, and returns the number of items of each kind. Each line is a JSON object with
 * a `type`. Omits password hashes, secrets and dead-letter messages. Renames the file to its final name once it is complete.
 * @throws {CliError} if the file cannot be written, or the account has no data.
 */
export async function exportAll({ target, progress }: Task, account: string, file: string) {
  const partial = `${file}.partial`;
  const kinds = kindsWith('exportedAs');
  const counts = Object.fromEntries(kinds.map(kind => [kind, 0])) as Record<ExportedKind, number>;
  const readers = makeRecordReaders(target, openAccountItems(target, account, progress));
  const output = createWriteStream(partial, { mode: 0o600 });
  const failure = once(output, 'error').then(([error]: readonly NodeJS.ErrnoException[]) => {
    throw new CliError(`Could not write ${partial} (${error?.code}). Choose another file with --out.`);
  });

  async function write(kind: ExportedKind, record: object): Promise<void> {
    counts[kind] += 1;
    progress(`${counts.deliveries} deliveries, ${counts.sessions} sessions exported`);
    const line = `${JSON.stringify({ type: itemKinds[kind].exportedAs, ...record })}\n`;
    if (!output.write(line)) await Promise.race([once(output, 'drain'), failure]);
  }

  async function writeAll(): Promise<void> {
    for (const kind of kinds) {
      progress(`Reading ${kind.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)}`);
      for await (const record of readers[kind]()) await write(kind, record);
    }
    output.end();
    await once(output, 'finish');
  }

  try {
    await Promise.race([writeAll(), failure]);
    if (Object.values(counts).every(count => count === 0)) throw noData(account);
    await rename(partial, file);
  } catch (error) {
    output.destroy();
    await rm(partial, { force: true });
    throw error;
  }
  return counts;
}

/**
 * Deletes all data of an account, including its dead-letter messages. Disables users first and deletes them
 * last, so that a killed run can be repeated. Waits for attempts in flight, which may still store deliveries after
 * the webhook is deleted. Responses without a delivery do not contain the account and expire 60 days after their attempt.
 * @throws {CliError} if the operator does not confirm, or the account has no data.
 */
export async function deleteAll(
  { target, progress, confirm, recordResult }: AuditedTask,
  account: string,
  interruption: AbortSignal,
) {
  const items = openAccountItems(target, account, progress);
  const users = openUsers(target);
  const data = { users, sessions: openSessions(target), lockout: await openLockout(target) };
  const [currentUsers, clients, webhooks] = [
    await items.listUsers(),
    await items.listClients(),
    await openWebhooks(target).listOf(account),
  ];
  const owned = { users: currentUsers.length, clients: clients.length, webhooks: webhooks.length };
  const scope = `${listedCounts(owned)}, and all deliveries and dead-letter messages`;
  await confirm(`This permanently deletes account ${account} of ${target.label}: ${scope}.`);

  const counts = { clients: 0, webhooks: 0, deliveries: 0, users: 0, sessions: 0, deadLetters: 0 };
  let total = 0;
  function count(kind: keyof typeof counts, more = 1): void {
    if (more === 0) return;
    counts[kind] += more;
    total += more;
    recordResult({ count: total });
    progress(`${total} items deleted`);
    interruption.throwIfAborted();
  }
  for (const { userId } of await items.listUsers()) await users.setUserStatus(userId, 'disabled');
  for (const { clientId } of await items.listClients()) {
    if (await deleteClientData(target, clientId, account)) count('clients');
  }
  await deleteOwn(target, items, count);
  const webhooksDeletedAt = target.clock.now();
  await deleteDeliveries(target, items, count);
  // The users are read again, because another command may have moved a user or changed an address.
  for (const { userId } of await items.listUsers()) {
    if (await deleteUserData(data, userId, more => count('sessions', more))) count('users');
  }
  // If a user was already disabled, an interrupted run may have already deleted the webhooks.
  if (counts.webhooks + counts.deliveries > 0 || currentUsers.some(({ status }) => status === 'disabled')) {
    progress('Waiting for attempts in flight');
    const wait = Math.max(webhooksDeletedAt + maxAttempt - target.clock.now(), 0);
    await target.pause(wait, interruption).finally(() => interruption.throwIfAborted());
    await deleteDeliveries(target, items, count);
  }
  await deleteOwn(target, items, count); // a consumer may have stored new slowness items in the meantime
  const onRead = (readCount: number, deleted: number) => {
    count('deadLetters', deleted - counts.deadLetters);
    progress(`Dead-letter messages read: ${readCount}`);
  };
  const { inFlight } = await deleteDeadLetters(openQueues(target), account, onRead, interruption);
  if (total === 0) throw noData(account, inFlight);
  return { ...counts, inFlight };
}

type Count = (kind: 'webhooks' | 'deliveries', more: number) => void;

/** Deletes the items of the account itself, and counts the webhooks. Disabled users cannot register new webhooks. */
async function deleteOwn(target: Task['target'], items: AccountItems, count: Count): Promise<void> {
  const { webhooks, ...others } = ownKeysOf(items);
  const currentWebhooks = await openWebhooks(target).listOf(items.account);
  await batchDelete(target.dynamo, webhooks());
  count('webhooks', currentWebhooks.length);
  for (const keys of Object.values(others)) await batchDelete(target.dynamo, keys());
}

/** Deletes the deliveries in several passes, because an attempt in flight may store its outcome after a deletion. */
async function deleteDeliveries(target: Task['target'], items: AccountItems, count: Count): Promise<void> {
  let deletedCount = 0;
  do {
    if (deletedCount > 0) await target.pause(pauseBetweenPasses);
    deletedCount = 0;
    await batchDelete(target.dynamo, deliveryKeysOf(items), (more, keys) => {
      deletedCount += more;
      count('deliveries', keys.filter(({ key }) => key.part === headPart).length);
    });
  } while (deletedCount > 0);
}

/** The maximum `attemptTimeout` of a stage, in milliseconds. */
export const maxAttemptTimeout = 20_000;

/** The maximum time from reading the webhook to storing the attempt. In milliseconds. */
const maxAttempt = maxAttemptTimeout + timeAroundAttempt;

/** The pause between two passes, which is longer than the lag of an index. In milliseconds. */
const pauseBetweenPasses = 1_000;

function noData(account: string, inFlight = 0): CliError {
  const hint = inFlight === 0 ? '"webhooks list" and "users list" show all accounts' : inFlightElsewhere(inFlight);
  return new CliError(`Account "${account}" has no data: ${hint}.`);
}
