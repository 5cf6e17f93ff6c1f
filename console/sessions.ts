import { createHash, randomBytes } from 'node:crypto';
import type { Login } from './api.ts';

/** The session of one browser. It can be written as JSON, for a store outside of the process. */
export interface Session {
  readonly login: Login;
  /** True if a link opened it: then it signs in again by itself. */
  readonly byLink: boolean;
  /** Every form has it: another site cannot read it. */
  readonly formToken: string;
  /** The last click, in milliseconds since the epoch. */
  usedAt: number;
  /** The outcomes that the next page shows once. */
  notes: Note[];
  /** The latest replay of each event. */
  replays: Readonly<Record<string, string>>;
}

/** The outcome of an action, until a page has shown it. */
export type Note =
  | { readonly kind: 'done' | 'failed'; readonly text: string }
  | { readonly kind: 'secret'; readonly event: string; readonly secret: string };

/** Keeps sessions by the SHA-256 of their id: the time of a lookup reveals nothing about an id. */
export interface SessionStore {
  load(key: string): Promise<Session | undefined>;
  save(key: string, session: Session): Promise<void>;
  remove(key: string): Promise<void>;
}

export function makeMemoryStore(): SessionStore {
  const sessions = new Map<string, Session>();
  return {
    load: async key => sessions.get(key),
    save: async (key, session) => void sessions.set(key, session),
    remove: async key => void sessions.delete(key),
  };
}

/** Sessions without a click for this long end; a link that is not opened, too. In milliseconds. */
export const maxIdle = 3_600_000;

/** Returns 256 random bits. */
export function randomId(): string {
  return randomBytes(32).toString('base64url');
}

export function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
