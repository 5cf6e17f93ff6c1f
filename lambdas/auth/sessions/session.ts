import * as z from 'zod/mini';
import type { Item, ItemKey } from '../../platform/aws/dynamo.ts';

/** A login with all its refresh tokens and access tokens. Times are in milliseconds since the epoch. */
export type Session = z.output<typeof sessionSchema>;

/** Returns the key of a session. Table `Sessions`: partition key `userId`, sort key `sessionId`. */
export function sessionKey(table: string, sessionId: string): ItemKey {
  return { table, key: { userId: userIdOf(sessionId), sessionId } };
}

export function parseSession(item: Item | undefined): Session | undefined {
  return item && sessionSchema.parse(item);
}

/** Returns whether a session has reached its idle or absolute lifetime. */
export function isExpired(session: Session, now: number): boolean {
  return now >= session.idleExpiresAt || now >= session.absoluteExpiresAt;
}

/** Returns the prefix of a user's session ids. */
export function sessionIdPrefix(userId: string): string {
  return `${userId}-`;
}

const sessionSchema = z.object({
  /** The session id, in the form `<userId>-<random>`. The prefix identifies the user of a refresh token. */
  sessionId: z.string(),
  clientId: z.string(),
  userId: z.string(),
  accountId: z.string(),
  /** The `version` of the user and of the client at login. The session ends when either increases. */
  userVersion: z.int(),
  clientVersion: z.int(),
  /** The scopes granted at login, space-separated. A narrower refresh does not change them. */
  scope: z.string(),
  /** The counter of the current refresh token. */
  counter: z.int(),
  /** The MAC key of the current refresh token. */
  keyId: z.string(),
  createdAt: z.number(),
  /** The time of the last rotation, or of the login before the first rotation. */
  rotatedAt: z.number(),
  idleExpiresAt: z.number(),
  absoluteExpiresAt: z.number(),
  /** A random id of the latest rotation. It distinguishes a repeated write from a concurrent rotation. */
  rotationId: z.optional(z.string()),
  revokedAt: z.optional(z.number()),
  revokedFor: z.optional(z.enum(['reuse', 'revocation', 'operator'])),
});

function userIdOf(sessionId: string): string {
  return sessionId.split('-', 1)[0] ?? '';
}
