import { domainToASCII } from 'node:url';
import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/aws/dynamo.ts';

/** The roles a user can have on the account. */
export const roles = ['admin', 'member'] as const;

/** A user's role on the account. */
export type Role = (typeof roles)[number];

export interface UserTables {
  readonly users: string;
  readonly credentials: string;
}

/** A user. Times are in milliseconds since the epoch. */
export type User = z.output<typeof userSchema>;

/** The most bytes of an address in its normal form (RFC 5321 section 4.5.3.1.3). */
export const maxEmailBytes = 254;

/** Returns the normal form of an address; `undefined` if it is too long. A much longer text is not normalised: that takes quadratic time. */
export function normaliseBoundedEmail(email: string): string | undefined {
  if (Buffer.byteLength(email.trim()) > 4 * maxEmailBytes) return undefined;
  const normal = normaliseEmail(email);
  return Buffer.byteLength(normal) > maxEmailBytes ? undefined : normal;
}

/**
 * Returns the form of an e-mail address that is stored and compared, with the domain in ASCII. NFC after lower-casing too: of `J` and
 * U+030C it composes nothing, of `j` and U+030C one letter.
 */
export function normaliseEmail(email: string): string {
  const text = email.trim().normalize('NFC').toLowerCase().normalize('NFC');
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1);
  return at !== -1 && isInternational(domain) ? `${text.slice(0, at)}@${domainToASCII(domain) || domain}` : text;
}

/** Returns whether a domain needs conversion. `domainToASCII` drops format characters, paths and ports: with these it is none. */
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

/** A user's e-mail address and password hash. Apart from the user, so that only a login ever reads a password hash. */
export type Credential = z.output<typeof credentialSchema>;

/** Returns the key of the credential of a normalised e-mail address. Table `Credentials`: partition `email`. */
export function credentialKey(table: string, email: string): ItemKey {
  return { table, key: { email } };
}

export function parseCredential(item: Item | undefined): Credential | undefined {
  return item && credentialSchema.parse(item);
}

const userSchema = z.object({
  userId: z.string(),
  /** Normalised by `normaliseEmail`; unique. */
  email: z.string(),
  /** Grows with each new password: a login that read the credential before that is refused. */
  credentialVersion: z.int(),
  /** Grows with every change that ends the user's sessions: a session of another version has ended. */
  version: z.int(),
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
  /** That of the user. */
  credentialVersion: z.int(),
});
