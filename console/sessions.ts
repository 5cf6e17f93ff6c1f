import { createHash, randomBytes } from 'node:crypto';
import type { Login } from './api.ts';
import type { ReplayCount } from './tally.ts';

/** The session of one browser. It can be written as JSON, for a store outside of the process. */
export interface Session {
  readonly login: Login;
  /** True if a link opened it: then it signs in again by itself. */
  readonly byLink: boolean;
  /** Every form has it: another site cannot read it. */
  readonly formToken: string;
  usedAt: number;
  /** True if the service ended its login. Its notes wait for the next one of the same user. */
  hasEnded: boolean;
  notes: Note[];
  replays: Readonly<Record<string, { readonly id: string; readonly counted?: ReplayCount | undefined }>>;
}

export type Note =
  | { readonly kind: 'done' | 'failed'; readonly text: string }
  | { readonly kind: 'secret'; readonly event: string; readonly secret: string };

/** Keeps sessions by the SHA-256 of their id: the time of a lookup reveals nothing about an id. */
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

/** Sessions without a click for this long end; a link that is not opened, too. In milliseconds. */
export const maxIdle = 3_600_000;

export function randomId(): string {
  return randomBytes(32).toString('base64url');
}

export function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
