import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/dynamo.ts';

/** One login with all refresh tokens and access tokens that come of it. Moments are in milliseconds since the epoch. */
export type Session = z.output<typeof sessionSchema>;

/** Where a session is stored. Table `Sessions`: partition `userId`, range `sessionId`. */
export function sessionKey(table: string, sessionId: string): ItemKey {
  return {
    table,
    key: { userId: userIdOf(sessionId), sessionId },
  };
}

/** Reads a stored session. */
export function parseSession(item: Item | undefined): Session | undefined {
  return item && sessionSchema.parse(item);
}

/** Whether a session has outlived its idle or absolute life. */
export function isExpired(session: Session, now: number): boolean {
  return now >= session.idleExpiresAt || now >= session.absoluteExpiresAt;
}

const sessionSchema = z.object({
  /** `<userId>-<random>`: whoever holds a refresh token knows where its user is stored. */
  sessionId: z.string(),
  clientId: z.string(),
  userId: z.string(),
  accountId: z.string(),
  /** The user's and the client's `version` at login: when one of them grows, the session is over. */
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

/** The user whose session it is: every id begins with theirs. */
function userIdOf(sessionId: string): string {
  return sessionId.split('-', 1)[0] ?? '';
}
