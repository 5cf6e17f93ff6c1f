import { domainToASCII } from 'node:url';
import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/aws/dynamo.ts';

/** The roles that a user can have in an account. */
export const roles = ['admin', 'member'] as const;

export type Role = (typeof roles)[number];

export interface UserTables {
  readonly users: string;
  readonly credentials: string;
}

/** A user. Times are in milliseconds since the epoch. */
export type User = z.output<typeof userSchema>;

/** The maximum length of a normalised e-mail address in bytes (RFC 5321 section 4.5.3.1.3). */
export const maxEmailBytes = 254;

/** Normalises an e-mail address. Returns `undefined` if it is too long. Also limits the input, because normalisation takes quadratic time. */
export function normaliseBoundedEmail(email: string): string | undefined {
  if (Buffer.byteLength(email.trim()) > 4 * maxEmailBytes) return undefined;
  const normal = normaliseEmail(email);
  return Buffer.byteLength(normal) > maxEmailBytes ? undefined : normal;
}

/**
 * Returns the normal form of an e-mail address for storage and comparison, with the domain in ASCII. Applies NFC again after
 * lower-casing, because U+030C composes with `j` but not with `J`.
 */
export function normaliseEmail(email: string): string {
  const text = email.trim().normalize('NFC').toLowerCase().normalize('NFC');
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1);
  return at !== -1 && isInternational(domain) ? `${text.slice(0, at)}@${domainToASCII(domain) || domain}` : text;
}

/** Returns whether a domain needs conversion to ASCII. Excludes format characters, paths and ports, which `domainToASCII` would drop. */
function isInternational(domain: string): boolean {
  return /\P{ASCII}/u.test(domain) && /^(?:[a-z0-9.-]|[^\p{ASCII}\p{Cf}])+$/u.test(domain);
}

/** Returns the key of a user. Table `Users`: partition `userId`. */
export function userKey(table: string, userId: string): ItemKey {
  return { table, key: { userId } };
}

export function parseUser(item: Item | undefined): User | undefined {
  return item && userSchema.parse(item);
}

/** A user's e-mail address and password hash, stored apart from the user, so that only logins read password hashes. */
export type Credential = z.output<typeof credentialSchema>;

/** Returns the credential key for a normalised e-mail address. Table `Credentials`: partition `email`. */
export function credentialKey(table: string, email: string): ItemKey {
  return { table, key: { email } };
}

export function parseCredential(item: Item | undefined): Credential | undefined {
  return item && credentialSchema.parse(item);
}

const userSchema = z.object({
  userId: z.string(),
  /** The unique e-mail address, normalised by `normaliseEmail`. */
  email: z.string(),
  /** Increases with each new password. A login with an older credential is rejected. */
  credentialVersion: z.int(),
  /** Increases with every change that ends the user's sessions. Sessions of other versions have ended. */
  version: z.int(),
  accountId: z.string(),
  role: z.enum(roles),
  status: z.enum(['enabled', 'disabled']),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const credentialSchema = z.object({
  /** The e-mail address, normalised by `normaliseEmail`. */
  email: z.string(),
  userId: z.string(),
  /** The hash in the PHC string format (see `password-hash.ts`). */
  passwordHash: z.string(),
  /** The user's `credentialVersion`. */
  credentialVersion: z.int(),
});
