import { createHmac } from 'node:crypto';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/aws/batch-get.ts';
import type { Item, ItemKey, StoreParts } from '../../platform/aws/dynamo.ts';
import { attribute, type Expression, expression, updateItem } from '../../platform/aws/update-item.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import { normaliseEmail } from '../principals/user.ts';
import {
  type FailureRecord,
  type FailureSummary,
  failureAttributes,
  failureLifetime,
  hasLockBegun,
  parseFailures,
  summariseFailures,
} from './lockout-rule.ts';

export type Lockout = ReturnType<typeof makeLockout>;

/** The item that counts the failures against an e-mail address, and a client's attributes in it. */
export interface LockoutKey extends ItemKey {
  /** A MAC of the client and the e-mail address: part of the names of the client's attributes. */
  readonly client: string;
}

/** The failures against an e-mail address that still count, by client. */
export interface FailuresByClient extends Omit<FailureSummary, 'clients'> {
  readonly clients: readonly {
    readonly clientId: string | undefined;
    readonly failures: number;
    readonly lockedUntil?: number;
  }[];
}

/**
 * Makes the login lockout: a doubling lock, which never keeps a user out for long, and never makes logins wait for each other. This
 * file counts failures and commits successes; `lockout-rule.ts` says when a lock is on.
 *
 * Table `Lockouts`: partition `pk`, here `lock#<MAC of the e-mail address>`, so that the table does
 * not tell whose accounts were tried. The item holds `totalOfAll`, `sharedAt`, `ttl`, and for each MAC of a client
 * `total_…`, `base_…`, `last_…`, `latest_…` (the latest failure's id). Totals only grow, and a lock follows from them when
 * they are read: therefore every failure is one write that asks for no count, and a success can tell from a total that no lock has
 * begun. They begin anew where stale ones are removed or a user is unlocked: the condition of a success, and of a failure that
 * starts again, fails where its reading is of before. A new MAC key starts the counts again, which once in its lifetime does no harm.
 */
export function makeLockout({
  dynamo,
  table,
  keyring,
  now,
  makeId,
  log,
}: StoreParts & {
  /** Must be able to open MAC keys. */
  readonly keyring: Pick<Keyring, 'active' | 'open'>;
  readonly makeId: MakeId;
  /** May be left out where no failure is counted. */
  readonly log?: Pick<Log, 'warn'>;
}) {
  return { keyOf, failuresIn, readFailures, countFailure, commit, findFailures, unlock };

  /** Returns the key for a client and a normalised e-mail address, whether or not a user has that address. */
  async function keyOf(clientId: string, email: string): Promise<LockoutKey> {
    return { ...(await itemKeyOf(email)), client: await clientMacOf(clientId, email) };
  }

  async function itemKeyOf(email: string): Promise<ItemKey> {
    return { table, key: { pk: `lock#${await macOf('everyone', email)}` } };
  }

  async function clientMacOf(clientId: string, email: string): Promise<string> {
    return (await macOf('client', clientId, email)).slice(0, 22);
  }

  async function macOf(...parts: string[]): Promise<string> {
    const macKey = await keyring.open(await keyring.active('mac'));
    // no refresh token contains a NUL: no MAC made here is that of a refresh token
    return createHmac('sha256', macKey)
      .update(['lockout', ...parts].join('\0'))
      .digest('base64url');
  }

  /** Returns the failures in the item of a key, as of now. */
  function failuresIn({ client }: LockoutKey, item: Item | undefined): FailureRecord {
    return parseFailures(item, client, now());
  }

  /** Reads the failures of a key, as of now. */
  async function readFailures(key: LockoutKey): Promise<FailureRecord> {
    const [item] = await batchGet(dynamo, [key]);
    return failuresIn(key, item);
  }

  /**
   * Counts a refused login in one write, whatever others count at the same moment, or in a second one where failures that were read as
   * stale are gone by then. Another condition is that this is not the write of the failure before: the SDK repeats a write whose answer
   * was lost, and one wrong password must not count three times.
   */
  async function countFailure(key: LockoutKey, failures: FailureRecord): Promise<void> {
    const { total, base, last, latest } = failureAttributes(key.client);
    const [moment, failureId] = [now(), makeId(8)];
    const count = (start: Item, isThere: Expression) =>
      updateItem(dynamo, key, {
        set: {
          [latest]: failureId,
          totalOfAll: increment('totalOfAll'),
          [total]: increment(total),
          [last]: moment,
          ttl: ttl(),
          ...(failures.isSharing && { sharedAt: moment }),
          ...start,
        },
        when: expression`(attribute_not_exists(${attribute(latest)}) OR ${attribute(latest)} <> ${failureId})${isThere}`,
      });
    // Concurrent failures that start again write the same value.
    const start = failures.isStale ? { [base]: failures.total } : {};
    if (!(await count(start, areThere(key, failures))) && failures.isStale) await count({}, expression``);
    if (failures.staleClients.length === 0) return;
    await removeStale(key, failures).catch(error => log?.warn('lockout.not_cleaned', describeError(error)));
  }

  /**
   * Commits a success. Resets the client's failures. The same write fails if a lock has begun since they were read, which returns
   * false: of many guesses at once, the right one succeeds only if it comes before the lock.
   */
  async function commit(key: LockoutKey, failures: FailureRecord): Promise<boolean> {
    let latest = failures;
    for (let tries = 0; tries < maxTries; tries++) {
      if (await tryCommit(key, latest)) return true;
      latest = await readFailures(key);
      if (hasLockBegun(failures, latest)) return false;
    }
    return false;
  }

  /** Finds the failures against an e-mail address that still count, by client. Without an id: of a client that is none of these. */
  async function findFailures(given: string, clientIds: readonly string[]): Promise<FailuresByClient> {
    const email = normaliseEmail(given);
    const [item] = await batchGet(dynamo, [await itemKeyOf(email)]);
    const { clients, ...ofAll } = summariseFailures(item, now());
    if (clients.length === 0) return { ...ofAll, clients: [] };
    const macs = await Promise.all(clientIds.map(clientId => clientMacOf(clientId, email)));
    return {
      ...ofAll,
      clients: clients.map(({ client, ...own }) => ({ clientId: clientIds[macs.indexOf(client)], ...own })),
    };
  }

  /** Resets the failures of all clients against an e-mail address. Returns whether there were any that still counted. */
  async function unlock(email: string): Promise<boolean> {
    const itemKey = await itemKeyOf(normaliseEmail(email));
    const [item] = await batchGet(dynamo, [itemKey]); // a deletion that the SDK repeated returns nothing
    const command = new DeleteCommand({ TableName: table, Key: itemKey.key, ReturnValues: 'ALL_OLD' });
    const { Attributes = item } = await dynamo(command);
    return summariseFailures(Attributes, now()).clients.length > 0;
  }

  /** Returns whether it was written: a lock may have begun. */
  async function tryCommit(key: LockoutKey, failures: FailureRecord): Promise<boolean> {
    const { total, base } = failureAttributes(key.client);
    const ofClient = attribute(total);
    const written = await updateItem(dynamo, key, {
      set: {
        ttl: ttl(),
        [base]: expression`if_not_exists(${ofClient}, ${0})`,
      },
      when: expression`${isWithin(ofClient, failures.total, failures.nextLock)}
        AND ${isWithin(attribute('totalOfAll'), failures.totalOfAll, failures.nextLockOfAll)}${areThere(key, failures)}`,
    });
    return written !== undefined;
  }

  /** Keeps the item from growing with every client that ever failed. Best effort: it refuses nobody. */
  async function removeStale(key: LockoutKey, failures: FailureRecord): Promise<void> {
    const names = failures.staleClients.slice(0, 20).flatMap(client => Object.values(failureAttributes(client)));
    await updateItem(dynamo, key, {
      set: Object.fromEntries(names.map(name => [name, undefined])),
      when: expression`totalOfAll = ${failures.totalOfAll + 1}`, // no other failure since the reading
    });
  }

  /** Deletion only cleans up: `parseFailures` ignores what is too old. */
  function ttl(): number {
    return Math.ceil((now() + 2 * failureLifetime) / 1_000);
  }
}

/**
 * Returns what a condition asks besides, to be appended: the failures that were read as stale still stand there, or others have
 * started again since. Where they were removed, totals began anew, and the total that was read must not become a base.
 */
function areThere({ client }: LockoutKey, { isStale, total, last }: FailureRecord): Expression {
  const names = failureAttributes(client);
  return isStale
    ? expression` AND (${attribute(names.base)} = ${total} OR ${attribute(names.last)} = ${last})`
    : expression``;
}

/**
 * Returns the condition that a total is below that of a lock, and not below what was read: it began anew where a user was unlocked, and
 * how far the next lock is was told of the earlier one.
 */
function isWithin(total: Expression, read: number, lock: number): Expression {
  if (read === 0) return expression`(attribute_not_exists(${total}) OR ${total} < ${lock})`;
  return expression`${total} >= ${read} AND ${total} < ${lock}`;
}

/** A commit is repeated only while others fail by the dozen at the same moment without a lock. */
const maxTries = 5;

function increment(name: string): Expression {
  return expression`if_not_exists(${attribute(name)}, ${0}) + ${1}`;
}
