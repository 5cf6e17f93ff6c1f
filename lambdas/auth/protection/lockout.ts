import { createHmac } from 'node:crypto';
import { DeleteCommand, type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import type { Clock } from '../../platform/clock.ts';
import { conditionalWrite, type Item, type ItemKey } from '../../platform/dynamo.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { normaliseEmail } from '../principals/user.ts';
import {
  type FailureRecord,
  failureAttributes,
  failureLifetime,
  hasLockBegun,
  loginsAttribute,
  parseFailures,
} from './lockout-rule.ts';

/**
 * The login lockout against password guessing: a doubling lock, which never keeps a user out for long, and never makes logins
 * wait for each other. This file counts failures and commits successes; `lockout-rule.ts` says when a lock is on.
 */
export interface Lockout {
  /** The key for a client and a normalised e-mail address, whether or not a user has that address. */
  keyOf(clientId: string, email: string): Promise<LockoutKey>;
  /** The failures in the item of a key, as of now. */
  failuresIn(key: LockoutKey, item: Item | undefined): FailureRecord;
  /** Counts a refused login in one unconditional write, whatever others count at the same moment. */
  countFailure(key: LockoutKey, failures: FailureRecord): Promise<void>;
  /**
   * Commits a success. Resets the client's failures. The same write fails if a lock has begun since they were read, which
   * gives false: of many guesses at once, the right one succeeds only if it comes before the lock.
   */
  commit(key: LockoutKey, failures: FailureRecord): Promise<boolean>;
  /**
   * As `commit`, and the same write numbers the login: one more than the last through the client, `first` where none is known.
   * Gives the number; `undefined` where a lock has begun.
   */
  commitLogin(key: LockoutKey, failures: FailureRecord, first: number): Promise<number | undefined>;
  /** Resets the failures of all clients against an e-mail address. */
  unlock(email: string): Promise<void>;
}

/** The item that counts the failures against an e-mail address, and a client's attributes in it. */
export interface LockoutKey extends ItemKey {
  /** A MAC of the client and the e-mail address: part of the names of the client's attributes. */
  readonly client: string;
}

/**
 * Makes the lockout over table `Lockouts`: partition `pk`, here `lock#<MAC of the e-mail address>`, so that the table does
 * not tell whose accounts were tried. The item holds `totalOfAll`, `sharedAt`, `ttl`, and for each MAC of a client
 * `total_…`, `base_…`, `last_…` and `logins_…`. Totals only grow, and a lock follows from them when they are read: therefore
 * every failure is one unconditional write, and a success can tell from a total that no lock has begun. A new MAC key starts
 * the counts again, which once in its lifetime does no harm.
 */
export function makeLockout({
  dynamo,
  table,
  keyring,
  now,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  /** Must be able to open MAC keys. */
  readonly keyring: Pick<Keyring, 'active' | 'open'>;
  readonly now: Clock;
}): Lockout {
  return { keyOf, failuresIn, countFailure, commit, commitLogin, unlock };

  async function keyOf(clientId: string, email: string): Promise<LockoutKey> {
    return { ...(await itemKeyOf(email)), client: (await macOf('client', clientId, email)).slice(0, 22) };
  }

  async function itemKeyOf(email: string): Promise<ItemKey> {
    return { table, key: { pk: `lock#${await macOf('everyone', email)}` } };
  }

  async function macOf(...parts: string[]): Promise<string> {
    const macKey = await keyring.open(await keyring.active('mac'));
    // no refresh token contains a NUL: no MAC made here is that of a refresh token
    return createHmac('sha256', macKey)
      .update(['lockout', ...parts].join('\0'))
      .digest('base64url');
  }

  function failuresIn({ client }: LockoutKey, item: Item | undefined): FailureRecord {
    return parseFailures(item, client, now());
  }

  async function countFailure(key: LockoutKey, failures: FailureRecord): Promise<void> {
    const { total, base, last } = failureAttributes(key.client);
    const sets = [
      '#last = :now',
      '#ttl = :ttl',
      ...(failures.isSharing ? ['sharedAt = :now'] : []),
      ...(failures.isStale ? ['#base = :base'] : []), // concurrent failures that start again write the same value
    ];
    await update(key, {
      UpdateExpression: `ADD totalOfAll :one, #total :one SET ${sets.join(', ')}`,
      ExpressionAttributeNames: {
        '#total': total,
        '#last': last,
        '#ttl': 'ttl',
        ...(failures.isStale ? { '#base': base } : {}),
      },
      ExpressionAttributeValues: {
        ':one': 1,
        ':now': now(),
        ':ttl': ttl(),
        ...(failures.isStale ? { ':base': failures.total } : {}),
      },
    });
    if (failures.staleClients.length > 0) await removeStale(key, failures);
  }

  async function commit(key: LockoutKey, failures: FailureRecord): Promise<boolean> {
    return (await commitNumbered(key, failures, undefined)) !== undefined;
  }

  async function commitLogin(key: LockoutKey, failures: FailureRecord, first: number): Promise<number | undefined> {
    const written = await commitNumbered(key, failures, first);
    return written && Number(written[loginsAttribute(key.client)]);
  }

  /** The attributes that were written; `undefined` where a lock has begun. Without a first number there is none. */
  async function commitNumbered(
    key: LockoutKey,
    failures: FailureRecord,
    first: number | undefined,
  ): Promise<Item | undefined> {
    let latest = failures;
    for (let tries = 0; tries < maxTries; tries++) {
      const written = await tryCommit(key, latest, first);
      if (written) return written;
      const [item] = await batchGet(dynamo, [key]);
      latest = failuresIn(key, item);
      if (hasLockBegun(failures, latest)) return undefined;
    }
    return undefined;
  }

  async function unlock(email: string): Promise<void> {
    const { table, key } = await itemKeyOf(normaliseEmail(email));
    await dynamo.send(new DeleteCommand({ TableName: table, Key: key }));
  }

  /** The attributes that were written; `undefined` where a lock may have begun. */
  function tryCommit(key: LockoutKey, failures: FailureRecord, first: number | undefined): Promise<Item | undefined> {
    const { total, base } = failureAttributes(key.client);
    const isCounted = failures.total > 0;
    const sets = [
      '#ttl = :ttl',
      ...(isCounted ? ['#base = if_not_exists(#total, :zero)'] : []),
      ...(first === undefined ? [] : ['#logins = if_not_exists(#logins, :before) + :one']),
    ];
    return update(key, {
      UpdateExpression: `SET ${sets.join(', ')}`,
      ExpressionAttributeNames: {
        '#ttl': 'ttl',
        '#total': total,
        '#all': 'totalOfAll',
        ...(isCounted ? { '#base': base } : {}),
        ...(first === undefined ? {} : { '#logins': loginsAttribute(key.client) }),
      },
      ExpressionAttributeValues: {
        ':ttl': ttl(),
        ':nextLock': failures.nextLock,
        ':nextLockOfAll': failures.nextLockOfAll,
        ...(isCounted ? { ':zero': 0 } : {}),
        ...(first === undefined ? {} : { ':before': first - 1, ':one': 1 }),
      },
      ConditionExpression:
        '(attribute_not_exists(#total) OR #total < :nextLock) AND (attribute_not_exists(#all) OR #all < :nextLockOfAll)',
    });
  }

  /** Best effort: keeps the item from growing with every client that ever failed. */
  async function removeStale(key: LockoutKey, failures: FailureRecord): Promise<void> {
    const names = failures.staleClients.slice(0, 20).flatMap(client => Object.values(failureAttributes(client)));
    const placeholders = Object.fromEntries(names.map((name, position) => [`#n${position}`, name]));
    await update(key, {
      UpdateExpression: `REMOVE ${Object.keys(placeholders).join(', ')}`,
      ExpressionAttributeNames: { ...placeholders, '#all': 'totalOfAll' },
      ExpressionAttributeValues: { ':all': failures.totalOfAll + 1 },
      ConditionExpression: '#all = :all', // no other failure since the reading
    });
  }

  /** The attributes that were written; `undefined` where the condition did not hold. */
  async function update({ table, key }: ItemKey, expressions: UpdateExpressions): Promise<Item | undefined> {
    const command = new UpdateCommand({ TableName: table, Key: key, ...expressions, ReturnValues: 'UPDATED_NEW' });
    const output = await conditionalWrite(dynamo.send(command));
    return output && (output.Attributes ?? {});
  }

  /** Deletion only cleans up: `parseFailures` ignores what is too old. */
  function ttl(): number {
    return Math.ceil((now() + 2 * failureLifetime) / 1_000);
  }
}

/** A commit is repeated only while others fail by the dozen at the same moment without a lock. */
const maxTries = 5;

interface UpdateExpressions {
  readonly UpdateExpression: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues: Item;
}
