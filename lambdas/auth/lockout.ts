import { createHmac } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import type { Item, ItemAddress } from '../platform/dynamodb.ts';
import type { Keyring } from '../platform/keyring.ts';
import { makeFailureCount } from './failure-count.ts';

/** The failures against one user that lock for the first second: one client's own, and those of all clients together. */
const thresholds = { oneClient: 5, allClients: 50 };

/** Where the failures that concern one login are counted. */
interface LockoutAddresses {
  readonly oneClient: ItemAddress;
  readonly allClients: ItemAddress;
}

/** Both counts as they were read. */
type LockoutRecords = Record<keyof LockoutAddresses, Item | undefined>;

/** Slows down the guessing of passwords, without ever keeping a user out for long or making logins wait for each other. */
export interface Lockout {
  /** Addresses for a client and a normalised e-mail address, whether or not a user has it. */
  addresses(clientId: string, email: string): Promise<LockoutAddresses>;
  /** Whether a lock stands. Tries while it does are neither counted nor do they extend it. */
  stands(records: LockoutRecords): boolean;
  countFailure(addresses: LockoutAddresses, records: LockoutRecords): Promise<void>;
  /**
   * Commits a success: forgets the failures, in the same writes that make sure no lock stands at this moment. False when
   * one does: of many guesses at once, the right one counts only if it comes before the lock.
   */
  commit(addresses: LockoutAddresses): Promise<boolean>;
}

/** What the lockout stands on; the keyring must be able to open MAC keys. */
export interface LockoutDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly keyring: Pick<Keyring, 'active' | 'open'>;
  readonly now: Clock;
}

/**
 * Makes the lockout over table `Lockouts`: partition `pk`, here `lock#<MAC>`, so that the table tells nobody whose
 * addresses were tried. A new MAC key begins the counts anew, which once in its life does no harm.
 */
export const makeLockout = ({ documents, tableName, keyring, now }: LockoutDependencies): Lockout => {
  const oneClient = makeFailureCount({ documents, now, threshold: thresholds.oneClient });
  const allClients = makeFailureCount({ documents, now, threshold: thresholds.allClients });
  const stands = (records: LockoutRecords): boolean =>
    oneClient.isLocked(records.oneClient) || allClients.isLocked(records.allClients);

  return {
    addresses: async (clientId, email) => {
      const macKey = await keyring.open(await keyring.active('mac'));
      // no refresh token contains a NUL, so that nothing authenticated here can pass for one
      const address = (...parts: string[]): ItemAddress => {
        const mac = createHmac('sha256', macKey)
          .update(['lockout', ...parts].join('\0'))
          .digest('base64url');
        return { table: tableName, key: { pk: `lock#${mac}` } };
      };
      return { oneClient: address('client', clientId, email), allClients: address('everyone', email) };
    },

    stands,

    countFailure: async (addresses, records) => {
      if (stands(records)) return;
      // What the lock of one client keeps out must not count for the others: a burst would lock the user for everybody.
      const isCounted = await oneClient.add(addresses.oneClient, records.oneClient);
      if (isCounted) await allClients.add(addresses.allClients, records.allClients);
    },

    commit: async addresses => {
      const cleared = await Promise.all([oneClient.clear(addresses.oneClient), allClients.clear(addresses.allClients)]);
      return cleared.every(isCleared => isCleared);
    },
  };
};
