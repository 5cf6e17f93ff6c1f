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
  /** Grows with each changed password: a login of another version is one whose change died half-way. */
  credentialVersion: z.int(),
  /** An address that was given up and whose login may not be deleted yet. */
  formerEmail: z.optional(z.string()),
  /** Grows with whatever ends the user's sessions: those that began under another version are over. */
  version: z._default(z.int(), 1),
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

/** Where a user is stored. Table `Users`: partition `userId`. */
export const userAddress = (table: string, userId: string): ItemAddress => ({ table, key: { userId } });

/** Reads a stored user. */
export const parseUser = (item: Item | undefined): User | undefined => item && userSchema.parse(item);

const loginSchema = z.object({
  /** Normalised by `normaliseEmail`. */
  email: z.string(),
  userId: z.string(),
  /** A PHC string, see password-hash.ts. */
  passwordHash: z.string(),
  /** That of the user, or the login is one of a password that is being changed. */
  credentialVersion: z.int(),
  /** When the address was taken for this user. */
  createdAt: z._default(z.number(), 0),
});

/** What a user logs in with. Kept apart from the user, so that nothing but a login ever reads a password hash. */
export type Login = z.output<typeof loginSchema>;

/** Where the login of a normalised e-mail address is stored. Table `Logins`: partition `email`. */
export const loginAddress = (table: string, email: string): ItemAddress => ({ table, key: { email } });

/** Reads a stored login. */
export const parseLogin = (item: Item | undefined): Login | undefined => item && loginSchema.parse(item);
