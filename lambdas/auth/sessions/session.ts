import * as z from 'zod/mini';
import type { Item, ItemAddress } from '../../platform/dynamo.ts';

/** One login with all refresh tokens and access tokens that come of it. Moments are in milliseconds since the epoch. */
export type Family = z.output<typeof familySchema>;

/** Where a family is stored. Table `Families`: partition `userId`, range `familyId`. */
export function familyAddress(table: string, familyId: string): ItemAddress {
  return {
    table,
    key: { userId: userIdOf(familyId), familyId },
  };
}

/** Reads a stored family. */
export function parseFamily(item: Item | undefined): Family | undefined {
  return item && familySchema.parse(item);
}

/** Whether a family has outlived its idle or absolute life. */
export function isExpired(family: Family, now: number): boolean {
  return now >= family.idleExpiresAt || now >= family.absoluteExpiresAt;
}

const familySchema = z.object({
  /** `<userId>-<random>`: whoever holds a refresh token knows where its user is stored. */
  familyId: z.string(),
  clientId: z.string(),
  userId: z.string(),
  accountId: z.string(),
  /** The user's and the client's `version` at login: when one of them grows, the family is over. */
  userVersion: z.int(),
  clientVersion: z.int(),
  /** As granted at login, space-separated; a narrower refresh does not change it. */
  scope: z.string(),
  /** Of the one refresh token that may be rotated next. */
  counter: z.int(),
  /** The MAC key of that refresh token. */
  keyId: z.string(),
  createdAt: z.number(),
  /** When `counter` last grew; the login, at first. */
  rotatedAt: z.number(),
  idleExpiresAt: z.number(),
  absoluteExpiresAt: z.number(),
  /** Random, of the latest rotation: tells a rotation that was repeated because its answer got lost from another one. */
  rotationId: z.optional(z.string()),
  revokedAt: z.optional(z.number()),
  revokedFor: z.optional(z.enum(['reuse', 'revocation', 'lockout', 'operator'])),
});

/** The user whose family it is: every id begins with theirs. */
function userIdOf(familyId: string): string {
  return familyId.split('-', 1)[0] ?? '';
}
