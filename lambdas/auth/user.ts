import * as z from 'zod/mini';
import type { Item, ItemAddress } from '../platform/dynamodb.ts';

/** What a user may do on the account. */
export const roles = ['admin', 'member'] as const;

/** A user's role on the account. */
export type Role = (typeof roles)[number];

const userSchema = z.object({
  userId: z.string(),
  /** Normalised by `normaliseEmail`; unique. */
  email: z.string(),
  /** A PHC string, see password-hash.ts. */
  passwordHash: z.string(),
  /** Grows with each changed password: what was issued under another version is over. */
  credentialVersion: z.int(),
  accountId: z.string(),
  role: z.enum(roles),
  status: z.enum(['enabled', 'disabled']),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** A user. Moments are in milliseconds since the epoch. */
export type User = z.output<typeof userSchema>;

/** The one form of an e-mail address that is stored and compared. */
export const normaliseEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();

/** Where a user is stored. Table `Users`: partition `pk`, `id#<userId>` for the record. */
export const userAddress = (table: string, userId: string): ItemAddress => ({ table, key: { pk: `id#${userId}` } });

/** Where the user id of a normalised e-mail address is stored: `email#<address>` in the same table. */
export const emailAddress = (table: string, email: string): ItemAddress => ({ table, key: { pk: `email#${email}` } });

/** Reads a stored user. */
export const parseUser = (item: Item | undefined): User | undefined => item && userSchema.parse(item);

/** Reads the user id an e-mail address points to. */
export const parseEmailPointer = (item: Item | undefined): string | undefined =>
  item && z.object({ userId: z.string() }).parse(item).userId;
