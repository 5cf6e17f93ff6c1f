import { createHmac } from 'node:crypto';
import { DeleteCommand, type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import type { Clock } from '../../platform/clock.ts';
import { conditionalWrite, type Item, type ItemKey } from '../../platform/dynamo.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { normaliseEmail } from '../principals/user.ts';
import { type FailureRecord, failureAttributes, hasLockFallen, memory, readFailures } from './failure-record.ts';

/** Slows down the guessing of passwords, without ever keeping a user out for long or making logins wait for each other. */
export interface Lockout {
  /** The place for a client and a normalised e-mail address, whether or not a user has it. */
  place(clientId: string, email: string): Promise<LockoutPlace>;
  /** What was read there. */
  read(place: LockoutPlace, item: Item | undefined): FailureRecord;
  /** Counts a judged failure in one unconditional write, whatever others count at the same moment. */
  countFailure(place: LockoutPlace, record: FailureRecord): Promise<void>;
  /**
   * Commits a success: forgets the client's failures, in the write that makes sure no lock has fallen since the record
   * was read. False when one has: of many guesses at once, the right one counts only if it comes before the lock.
   */
  commit(place: LockoutPlace, record: FailureRecord): Promise<boolean>;
  /** Forgets all failures against an address, of all clients. */
  unlock(email: string): Promise<void>;
}

/** What the lockout needs; the keyring must be able to open MAC keys. */
export interface LockoutDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly keyring: Pick<Keyring, 'active' | 'open'>;
  readonly now: Clock;
}

/**
 * Makes the lockout over table `Lockouts`: partition `pk`, here `lock#<MAC of the address>`, so that the table tells
 * nobody whose addresses were tried. The item holds `totalOfAll`, `sharedAt`, `ttl`, and for each MAC of a client
 * `total_…`, `base_…` and `last_…`. Totals only grow, and a lock follows from them when it is read: therefore every
 * failure is one unconditional write, and a success can tell by a total that no lock has fallen. A new MAC key begins
 * the counts anew, which once in its life does no harm.
 */
export function makeLockout({ dynamo, tableName, keyring, now }: LockoutDependencies): Lockout {
  const macOf = async (...parts: string[]): Promise<string> => {
    const macKey = await keyring.open(await keyring.active('mac'));
    // no refresh token contains a NUL, so that nothing authenticated here can pass for one
    return createHmac('sha256', macKey)
      .update(['lockout', ...parts].join('\0'))
      .digest('base64url');
  };
  const addressOf = async (email: string): Promise<ItemKey> => ({
    table: tableName,
    key: { pk: `lock#${await macOf('everyone', email)}` },
  });
  const read = ({ client }: LockoutPlace, item: Item | undefined): FailureRecord => readFailures(item, client, now());
  /** Deletion only cleans up: what is forgotten is told from the record. */
  const ttl = (): number => Math.ceil((now() + 2 * memory) / 1_000);

  /** Whether the update's condition held. */
  const update = async (
    { table, key }: ItemKey,
    expression: string,
    names: Record<string, string>,
    values?: Item,
    condition?: string,
  ): Promise<boolean> => {
    const command = new UpdateCommand({
      TableName: table,
      Key: key,
      UpdateExpression: expression,
      ConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    });
    return (await conditionalWrite(dynamo.send(command))) !== undefined;
  };

  /** Whether the success was written before any lock fell that the record does not tell of. */
  const tryCommit = (place: LockoutPlace, record: FailureRecord): Promise<boolean> => {
    const { total, base } = failureAttributes(place.client);
    const isCounted = record.total > 0;
    return update(
      place,
      `SET #ttl = :ttl${isCounted ? ', #base = if_not_exists(#total, :zero)' : ''}`,
      { '#ttl': 'ttl', '#total': total, '#all': 'totalOfAll', ...(isCounted ? { '#base': base } : {}) },
      {
        ':ttl': ttl(),
        ':nextLock': record.nextLock,
        ':nextLockOfAll': record.nextLockOfAll,
        ...(isCounted ? { ':zero': 0 } : {}),
      },
      '(attribute_not_exists(#total) OR #total < :nextLock) AND (attribute_not_exists(#all) OR #all < :nextLockOfAll)',
    );
  };

  /** Best effort: keeps the item from growing with every client that ever failed. */
  const forgetStale = async (place: LockoutPlace, record: FailureRecord): Promise<void> => {
    const names = record.staleClients.slice(0, 20).flatMap(client => Object.values(failureAttributes(client)));
    const placeholders = Object.fromEntries(names.map((name, position) => [`#n${position}`, name]));
    await update(
      place,
      `REMOVE ${Object.keys(placeholders).join(', ')}`,
      { ...placeholders, '#all': 'totalOfAll' },
      { ':all': record.totalOfAll + 1 },
      '#all = :all', // nobody's failure may come between
    );
  };

  return {
    place: async (clientId, email) => ({
      ...(await addressOf(email)),
      client: (await macOf('client', clientId, email)).slice(0, 22),
    }),

    read,

    countFailure: async (place, record) => {
      const { total, base, last } = failureAttributes(place.client);
      const sets = [
        '#last = :now',
        '#ttl = :ttl',
        ...(record.isSharing ? ['sharedAt = :now'] : []),
        ...(record.isStale ? ['#base = :base'] : []), // side by side, all who begin anew write the same
      ];
      await update(
        place,
        `ADD totalOfAll :one, #total :one SET ${sets.join(', ')}`,
        { '#total': total, '#last': last, '#ttl': 'ttl', ...(record.isStale ? { '#base': base } : {}) },
        {
          ':one': 1,
          ':now': now(),
          ':ttl': ttl(),
          ...(record.isStale ? { ':base': record.total } : {}),
        },
      );
      if (record.staleClients.length > 0) await forgetStale(place, record);
    },

    commit: async (place, record) => {
      let latest = record;
      for (let attempt = 0; attempt < tries; attempt++) {
        if (await tryCommit(place, latest)) return true;
        const [item] = await batchGet(dynamo, [place]);
        latest = read(place, item);
        if (hasLockFallen(record, latest)) return false;
      }
      return false;
    },

    unlock: async email => {
      const { table, key } = await addressOf(normaliseEmail(email));
      await dynamo.send(new DeleteCommand({ TableName: table, Key: key }));
    },
  };
}

/** Where the failures that concern one login are counted. */
interface LockoutPlace extends ItemKey {
  /** A MAC of the client: what its attributes are called by. */
  readonly client: string;
}

/** A commit is tried again only while others fail by the dozen at the same moment and no lock falls. */
const tries = 5;
