import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/dynamo.ts';

/** What a user may do on the account. */
export const roles = ['admin', 'member'] as const;

/** A user's role on the account. */
export type Role = (typeof roles)[number];

/** A user. Moments are in milliseconds since the epoch. */
export type User = z.output<typeof userSchema>;

/** The one form of an e-mail address that is stored and compared. */
export function normaliseEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** Where a user is stored. Table `Users`: partition `userId`. */
export function userKey(table: string, userId: string): ItemKey {
  return { table, key: { userId } };
}

/** Reads a stored user. */
export function parseUser(item: Item | undefined): User | undefined {
  return item && userSchema.parse(item);
}

/** What a user logs in with. Kept apart from the user, so that nothing but a login ever reads a password hash. */
export type Credential = z.output<typeof credentialSchema>;

/** Where the login of a normalised e-mail address is stored. Table `Credentials`: partition `email`. */
export function credentialKey(table: string, email: string): ItemKey {
  return { table, key: { email } };
}

/** Reads a stored login. */
export function parseCredential(item: Item | undefined): Credential | undefined {
  return item && credentialSchema.parse(item);
}

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

const credentialSchema = z.object({
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
