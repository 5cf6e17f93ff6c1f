import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/aws/dynamo.ts';

/** The roles a user can have on the account. */
export const roles = ['admin', 'member'] as const;

/** A user's role on the account. */
export type Role = (typeof roles)[number];

/** A user. Times are in milliseconds since the epoch. */
export type User = z.output<typeof userSchema>;

/**
 * The one form of an e-mail address that is stored and compared. NFC after lower-casing too: of `J` and U+030C it composes
 * nothing, of `j` and U+030C one letter.
 */
export function normaliseEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase().normalize('NFC');
}

/** Returns the key of a user. Table `Users`: partition `userId`. */
export function userKey(table: string, userId: string): ItemKey {
  return { table, key: { userId } };
}

/** Reads a stored user. */
export function parseUser(item: Item | undefined): User | undefined {
  return item && userSchema.parse(item);
}

/** A user's e-mail address and password hash. Apart from the user, so that only a login ever reads a password hash. */
export type Credential = z.output<typeof credentialSchema>;

/** Returns the key of the credential of a normalised e-mail address. Table `Credentials`: partition `email`. */
export function credentialKey(table: string, email: string): ItemKey {
  return { table, key: { email } };
}

/** Reads a stored credential. */
export function parseCredential(item: Item | undefined): Credential | undefined {
  return item && credentialSchema.parse(item);
}

const userSchema = z.object({
  userId: z.string(),
  /** Normalised by `normaliseEmail`; unique. */
  email: z.string(),
  /** Grows with each new password: a credential of another version belongs to a change that crashed. */
  credentialVersion: z.int(),
  /** An e-mail address the user had before, and whose credential may not be deleted yet. */
  formerEmail: z.optional(z.string()),
  /** Grows with every change that ends the user's sessions: a session of another version has ended. */
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
  /** That of the user; another one while the password is being changed. */
  credentialVersion: z.int(),
  /** The moment when the user claimed the e-mail address. */
  createdAt: z._default(z.number(), 0),
});
