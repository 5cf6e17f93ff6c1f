import { createHash, randomBytes } from 'node:crypto';
import type { Login } from './api.ts';
import type { ReplayCount } from './tally.ts';

/** The session of a browser. It can be serialised as JSON, for an external store. */
export interface Session {
  readonly login: Login;
  /** True if a link opened the session, so that it signs in again by itself. */
  readonly byLink: boolean;
  /** The secret of every form, which another site cannot read. */
  readonly formToken: string;
  usedAt: number;
  /** True if the service ended the login. The next session of the same user shows its notes. */
  hasEnded: boolean;
  notes: Note[];
  replays: Readonly<Record<string, { readonly id: string; readonly counted?: ReplayCount | undefined }>>;
}

export type Note =
  | { readonly kind: 'done' | 'failed'; readonly text: string }
  | { readonly kind: 'secret'; readonly event: string; readonly secret: string };

/** Stores sessions by the SHA-256 hash of their ids, so that the duration of a lookup does not reveal an id. */
export interface SessionStore {
  load(key: string): Promise<Session | undefined>;
  save(key: string, session: Session, lifetime: number): Promise<void>;
  remove(key: string): Promise<void>;
}

export function makeMemoryStore(): SessionStore {
  const kept = new Map<string, { readonly session: Session; readonly timer: NodeJS.Timeout }>();
  const remove = async (key: string) => {
    clearTimeout(kept.get(key)?.timer);
    kept.delete(key);
  };
  return {
    load: async key => kept.get(key)?.session,
    save: async (key, session, lifetime) => {
      clearTimeout(kept.get(key)?.timer);
      kept.set(key, { session, timer: setTimeout(remove, lifetime, key).unref() });
    },
    remove,
  };
}

/** The time after which a session without a click or an unopened link ends. In milliseconds. */
export const maxIdle = 3_600_000;

export function randomId(): string {
  return randomBytes(32).toString('base64url');
}

export function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
