import { createHmac } from 'node:crypto';
import { DeleteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type Item, type ItemKey, isWritten, type StoreParts } from '../../platform/aws/dynamo.ts';
import { conditionOf, expression, updateItem } from '../../platform/aws/update-item.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { normaliseEmail } from '../principals/user.ts';
import { type Failures, failureLifetime, lockThreshold, parseFailures } from './lockout-rule.ts';

export type Lockout = ReturnType<typeof makeLockout>;

/** The failures that still count for an e-mail address through one client. */
export interface FailuresAtClient extends Pick<Failures, 'failures' | 'lockedUntil'> {
  /** Undefined if the caller did not pass the id of the client. */
  readonly clientId: string | undefined;
}

/**
 * Creates the login lockout per client and e-mail address. `lockout-rule.ts` defines when an address is locked.
 *
 * Table `Lockouts`: partition key `pk`, here `lock#<MAC of the address>`, and sort key `sk`, a MAC of the client and the address. The MACs
 * hide the addresses. Attributes: `failures`, `lastFailureAt`, `latestFailure` (an id) and `ttl`. A new MAC key resets the counts, which is
 * acceptable because MAC keys rarely change.
 */
export function makeLockout({
  dynamo,
  table,
  keyring,
  now,
  makeId,
}: StoreParts & {
  /** Must be able to open MAC keys. */
  readonly keyring: Pick<Keyring, 'active' | 'open'>;
  readonly makeId: MakeId;
}) {
  return { keyOf, failuresIn, recordFailure, recordSuccess, findFailures, unlock };

  /** Returns the key for a client and a normalised e-mail address. The address may have no user. */
  async function keyOf(clientId: string, email: string): Promise<ItemKey> {
    return { table, key: { pk: await partitionOf(email), sk: await macOf('client', clientId, email) } };
  }

  async function partitionOf(email: string): Promise<string> {
    return `lock#${await macOf('address', email)}`;
  }

  async function macOf(...parts: string[]): Promise<string> {
    const macKey = await keyring.open(await keyring.active('mac'));
    // Refresh tokens contain no NUL, so this is never the MAC of a refresh token.
    return createHmac('sha256', macKey)
      .update(['lockout', ...parts].join('\0'))
      .digest('base64url');
  }

  function failuresIn(item: Item | undefined): Failures {
    return parseFailures(item, now());
  }

  /**
   * Counts a rejected login. Concurrent calls lose no counts. If the failures are too old to count, the first call restarts the count
   * and the others add to it. If the SDK repeats a write, the id prevents it from counting twice.
   */
  async function recordFailure(key: ItemKey, { isStale, latestFailure }: Failures): Promise<void> {
    const [failedAt, id] = [now(), makeId(8)];
    const ttl = Math.ceil((failedAt + failureLifetime) / 1_000);
    const latest = { lastFailureAt: failedAt, latestFailure: id, ttl };
    const isRestarted =
      isStale &&
      (await updateItem(dynamo, key, {
        set: { ...latest, failures: 1 },
        when: expression`latestFailure = ${latestFailure}`,
      }));
    if (isRestarted) return;
    await updateItem(dynamo, key, {
      set: { ...latest, failures: expression`if_not_exists(failures, ${0}) + ${1}` },
      when: expression`attribute_not_exists(latestFailure) OR latestFailure <> ${id}`,
    });
  }

  /**
   * Clears the failures. Returns false if a lock has started since the failures were read, even if the lock has ended. In a burst of
   * guesses, the correct one therefore succeeds only before the lock. Concurrent successes do not affect each other.
   */
  function recordSuccess({ key }: ItemKey, { latestFailure }: Failures): Promise<boolean> {
    const noLockStarted = expression`attribute_not_exists(failures) OR failures < ${lockThreshold}
      OR latestFailure = ${latestFailure}`;
    return isWritten(dynamo(new DeleteCommand({ TableName: table, Key: key, ...conditionOf(noLockStarted) })));
  }

  /** Returns the failures that still count for an e-mail address, by client. */
  async function findFailures(address: string, clientIds: readonly string[]): Promise<readonly FailuresAtClient[]> {
    const email = normaliseEmail(address);
    const counted = (await itemsOf(email)).filter(item => failuresIn(item).failures > 0);
    if (counted.length === 0) return [];
    const macs = await Promise.all(clientIds.map(clientId => macOf('client', clientId, email)));
    return counted.map(item => {
      const { failures, lockedUntil } = failuresIn(item);
      return { clientId: clientIds[macs.indexOf(String(item.sk))], failures, lockedUntil };
    });
  }

  /** Clears the failures for an e-mail address at all clients. Returns whether any failure still counted. */
  async function unlock(email: string): Promise<boolean> {
    const items = await itemsOf(normaliseEmail(email));
    for (const { pk, sk } of items) await dynamo(new DeleteCommand({ TableName: table, Key: { pk, sk } }));
    return items.some(item => failuresIn(item).failures > 0);
  }

  async function itemsOf(email: string): Promise<readonly Item[]> {
    const items: Item[] = [];
    let start: Item | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await dynamo(
        new QueryCommand({
          TableName: table,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': await partitionOf(email) },
          ExclusiveStartKey: start,
        }),
      );
      items.push(...Items);
      start = LastEvaluatedKey;
    } while (start);
    return items;
  }
}
