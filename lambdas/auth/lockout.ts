import { createHmac } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { type Item, type ItemAddress, readTogether } from '../platform/dynamodb.ts';
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
  read(addresses: LockoutAddresses): Promise<LockoutRecords>;
  /** Whether a lock stands. Tries while it does are neither counted nor do they extend it. */
  stands(records: LockoutRecords): boolean;
  countFailure(addresses: LockoutAddresses, records: LockoutRecords): Promise<void>;
  /** Forgets the failures after a success. */
  clear(addresses: LockoutAddresses, records: LockoutRecords): Promise<void>;
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

    read: async addresses => {
      const [ofOneClient, ofAllClients] = await readTogether(documents, [addresses.oneClient, addresses.allClients]);
      return { oneClient: ofOneClient, allClients: ofAllClients };
    },

    stands,

    countFailure: async (addresses, records) => {
      if (stands(records)) return;
      await Promise.all([
        oneClient.add(addresses.oneClient, records.oneClient),
        allClients.add(addresses.allClients, records.allClients),
      ]);
    },

    clear: async (addresses, records) => {
      await Promise.all([
        oneClient.clear(addresses.oneClient, records.oneClient),
        allClients.clear(addresses.allClients, records.allClients),
      ]);
    },
  };
};
