import { createHash, randomBytes } from 'node:crypto';
import type { Login } from './api.ts';
import type { ReplayCount } from './count-deliveries.ts';

/** A browser session. It can be serialised as JSON for an external store. */
export interface Session {
  readonly login: Login;
  /** True if a link opened the session. If the service rejects its tokens, the console signs in again automatically. */
  readonly byLink: boolean;
  readonly formToken: string;
  usedAt: number;
  /** True after the service rejected the tokens. The notes then appear in the next session of the same user. */
  hasEnded: boolean;
  notes: Note[];
  replays: Readonly<Record<string, { readonly id: string; readonly counted?: ReplayCount | undefined }>>;
}

export type Note =
  | { readonly kind: 'done' | 'failed'; readonly text: string }
  | { readonly kind: 'secret'; readonly event: string; readonly secret: string };

/** Stores each session under the SHA-256 hash of its ID, because lookup times could reveal a plain ID. */
export interface SessionStore {
  load(key: string): Promise<Session | undefined>;
  save(key: string, session: Session, lifetime: number): Promise<void>;
  remove(key: string): Promise<void>;
}

export function createMemoryStore(): SessionStore {
  const sessions = new Map<string, { readonly session: Session; readonly timer: NodeJS.Timeout }>();
  const remove = async (key: string) => {
    clearTimeout(sessions.get(key)?.timer);
    sessions.delete(key);
  };
  return {
    load: async key => sessions.get(key)?.session,
    save: async (key, session, lifetime) => {
      clearTimeout(sessions.get(key)?.timer);
      sessions.set(key, { session, timer: setTimeout(remove, lifetime, key).unref() });
    },
    remove,
  };
}

/** The time in milliseconds after which an idle session or an unused link expires. */
export const maxIdle = 3_600_000;

export function randomId(): string {
  return randomBytes(32).toString('base64url');
}

export function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
