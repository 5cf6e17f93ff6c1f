import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/aws/dynamo.ts';

/** A session: one login, and all refresh tokens and access tokens issued from it. Times are in milliseconds since the epoch. */
export type Session = z.output<typeof sessionSchema>;

/** Returns the key of a session. Table `Sessions`: partition `userId`, range `sessionId`. */
export function sessionKey(table: string, sessionId: string): ItemKey {
  return {
    table,
    key: { userId: userIdOf(sessionId), sessionId },
  };
}

export function parseSession(item: Item | undefined): Session | undefined {
  return item && sessionSchema.parse(item);
}

/** Returns whether a session has reached its idle or absolute lifetime. */
export function isExpired(session: Session, now: number): boolean {
  return now >= session.idleExpiresAt || now >= session.absoluteExpiresAt;
}

/** Returns what the ids of a user's sessions begin with. */
export function sessionIdPrefix(userId: string): string {
  return `${userId}-`;
}

const sessionSchema = z.object({
  /** `<userId>-<random>`: a refresh token alone is enough to find its user. */
  sessionId: z.string(),
  clientId: z.string(),
  userId: z.string(),
  accountId: z.string(),
  /** The `version` of user and client at login: when one of them grows, the session ends. */
  userVersion: z.int(),
  clientVersion: z.int(),
  /** As granted at login, space-separated. A narrower refresh does not change it. */
  scope: z.string(),
  /** The counter of the one refresh token that may be rotated next. */
  counter: z.int(),
  /** The MAC key of that refresh token. */
  keyId: z.string(),
  createdAt: z.number(),
  /** The moment when `counter` last grew; at first, the login. */
  rotatedAt: z.number(),
  idleExpiresAt: z.number(),
  absoluteExpiresAt: z.number(),
  /** Random, of the latest rotation: tells a write that the SDK repeated from another rotation. */
  rotationId: z.optional(z.string()),
  revokedAt: z.optional(z.number()),
  revokedFor: z.optional(z.enum(['reuse', 'revocation', 'operator'])),
});

/** Returns the user id that a session id begins with. */
function userIdOf(sessionId: string): string {
  return sessionId.split('-', 1)[0] ?? '';
}
