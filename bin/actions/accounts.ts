import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from '../../lambdas/delivery/delivery.ts';
import { toDeliveryDetail } from '../../lambdas/delivery/representation.ts';
import { headPart } from '../../lambdas/delivery/store/head-key.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import type { Hold } from '../../lambdas/webhooks/operator-store.ts';
import { toWebhookRecord } from '../../lambdas/webhooks/representation.ts';
import type { Webhook } from '../../lambdas/webhooks/webhook.ts';
import { openAccountData } from './account-data.ts';
import { looks, writes } from './audit.ts';
import { CliError } from './operator.ts';
import { resumeExport } from './partial-export.ts';
import { openDeliveries, openLockout, openUsers, openWebhooks } from './stores.ts';
import { requireOutput, type Task } from './target.ts';

/** The operators' actions on all that is kept of an account. */
export const actions = {
  exportAccount: looks('accounts export', exportAccount, { before: (_task, account) => ({ account }) }),
  deleteAccount: writes('accounts delete', deleteAccount, { before: (_task, account) => ({ account }) }),
};

/** The number of records of each kind that were exported or found. */
export interface AccountCounts {
  readonly clients: number;
  readonly users: number;
  readonly sessions: number;
  readonly webhooks: number;
  readonly deliveries: number;
}

/**
 * Writes all that is kept of an account into a file, a JSON object on each line with its `type`: users, their sessions, clients,
 * webhooks, deliveries with the bodies that were sent and the latest answers. Password hashes and secrets are not in it. The file gets
 * its name when it is whole. Until then it is FILE.TABLE.ACCOUNT.partial: a run that was ended half-way is repeated, and goes on with the
 * deliveries that are not in it yet.
 *
 * @throws {CliError} when the file cannot be written, or there is nothing of the account.
 */
async function exportAccount({ target, progress, warn }: Task, account: string, file: string): Promise<AccountCounts> {
  const data = openAccountData(target, account);
  const deliveries = openDeliveries(target);
  // Another stage may have an account of that name.
  const partial = `${file}.${requireOutput(target, 'DeliveriesTable')}.${account}.partial`;
  const exported = await resumeExport(partial);
  const counts = { clients: 0, users: 0, sessions: 0, webhooks: 0, deliveries: exported.size };
  const output = createWriteStream(partial, { mode: 0o600, flags: 'a' });
  const failed = once(output, 'error').then(([error]) => {
    throw new CliError(`${partial} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  });

  async function write(kind: keyof AccountCounts, record: object): Promise<void> {
    counts[kind] += 1;
    progress(`${counts.deliveries} deliveries, ${counts.sessions} sessions exported`);
    const line = `${JSON.stringify({ type: kind.replace(/ies$/, 'y').replace(/s$/, ''), ...record })}\n`;
    if (!output.write(line)) await Promise.race([once(output, 'drain'), failed]);
  }

  async function writeAll(): Promise<void> {
    for await (const ids of inBatches(data.deliveryIds(), readSize)) {
      for (const delivery of await deliveries.read(ids.filter(id => !exported.has(id)))) {
        await write('deliveries', shownDelivery(await deliveries.readAnswers(delivery)));
      }
    }
    for (const { secrets: _, ...client } of await data.clients()) await write('clients', client);
    for (const user of await data.users()) {
      await write('users', user);
      for await (const session of data.sessionsOf(user)) await write('sessions', session);
    }
    for (const webhook of await openWebhooks(target).listOf(account)) await write('webhooks', shownWebhook(webhook));
    output.end();
    await once(output, 'finish');
  }

  try {
    await Promise.race([writeAll(), failed]);
    if (Object.values(counts).every(count => count === 0)) throw nothingOf(account);
    await rename(partial, file);
  } catch (error) {
    output.destroy();
    if (counts.deliveries === 0) await rm(partial, { force: true });
    else warn(`${counts.deliveries} deliveries are in ${partial}: the same command goes on with the others`);
    throw error;
  }
  return counts;
}

/**
 * Deletes all that is kept of an account: users with their sessions and locks, clients that are bound to it, webhooks, operators'
 * suspensions, deliveries and replays. Users are shut out first and deleted last, so that a run that was killed is repeated. What
 * consumers have in hand meanwhile may still be written: it goes on until nothing is found.
 *
 * @throws {CliError} when nobody confirmed, or there is nothing of the account.
 */
async function deleteAccount({ target, progress, confirm }: Task, account: string): Promise<AccountCounts> {
  const data = openAccountData(target, account);
  const [users, clients, webhooks] = [
    await data.users(),
    await data.clients(),
    await openWebhooks(target).listOf(account),
  ];
  const what = `${users.length} users, ${clients.length} clients, ${webhooks.length} webhooks, and all deliveries`;
  await confirm(`This deletes account ${account} of ${target.label} for good: ${what}.`);

  const store = openUsers(target);
  for (const { userId } of users) await store.setUserStatus(userId, 'disabled');
  await data.remove(data.clientKeys());
  await data.remove(data.ownKeys());
  const deliveries = await deleteDeliveries(data, progress);
  const sessions = await deleteUsers({ target, progress }, data, users);
  await data.remove(data.ownKeys()); // a consumer may have noted slowness meanwhile
  const counts = { clients: clients.length, users: users.length, webhooks: webhooks.length, sessions, deliveries };
  if (Object.values(counts).every(count => count === 0)) throw nothingOf(account);
  return counts;
}

type AccountData = ReturnType<typeof openAccountData>;

/** Returns how many there were. An attempt that is under way when its delivery is deleted may store its outcome after that. */
async function deleteDeliveries(data: AccountData, progress: Task['progress']): Promise<number> {
  let deliveries = 0;
  let found = 0;
  async function* keys() {
    for await (const key of data.deliveryKeys()) {
      found += 1;
      if (key.key.part === headPart) deliveries += 1;
      yield key;
    }
  }
  do {
    if (found > 0) await sleep(pauseBetweenPasses);
    found = 0;
    await data.remove(keys(), () => progress(`${deliveries} deliveries deleted`));
  } while (found > 0);
  return deliveries;
}

/** Returns how many sessions there were. The record of a user goes last: a repeated run finds them by it. */
async function deleteUsers(
  { target, progress }: Pick<Task, 'target' | 'progress'>,
  data: AccountData,
  users: Awaited<ReturnType<AccountData['users']>>,
): Promise<number> {
  const store = openUsers(target);
  const lockout = openLockout(target);
  let sessions = 0;
  for (const user of users) {
    await data.remove(data.sessionKeys(user), count => {
      sessions += count;
      progress(`${sessions} sessions deleted`);
    });
    await data.remove(data.credentialKeys(user));
    for (const email of [user.email, user.formerEmail]) if (email !== undefined) await lockout.unlock(email);
    await store.deleteUser(user.userId);
  }
  return sessions;
}

/** An index lags by less. In milliseconds. */
const pauseBetweenPasses = 1_000;

/** The deliveries that one read takes at once. */
const readSize = 100;

/** Returns a webhook as its account sees it, or an operator's suspension of the next one. */
function shownWebhook(webhook: Webhook | Hold): object {
  if ('webhookId' in webhook) return toWebhookRecord(webhook, undefined, Date.now());
  return { evento: webhook.eventName, suspended: isoTime(webhook.since) };
}

/** Returns a delivery as its account sees it, with its event. */
function shownDelivery(delivery: Delivery): object {
  return { evento: delivery.eventName, ...toDeliveryDetail(delivery) };
}

function nothingOf(account: string): CliError {
  return new CliError(
    `there is nothing of account "${account}": "webhooks list" and "users list" show those there are.`,
  );
}
