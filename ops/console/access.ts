import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../lambdas/platform/clock.ts';
import { makeOnce } from './once.ts';
import type { Answer } from './page.ts';

/** The way into a console: one-time tokens that become sessions, and the folder under which its pages lie. */
export type Access = ReturnType<typeof makeAccess>;

/**
 * Makes the access to a console. A token of 256 bits is good once, within an hour. It becomes a session, which ends with the process, by
 * a sign-out, and after an hour without a click. The cookie is bound to a random folder: cookies know no ports, and a cookie for `/` would
 * go to every server on 127.0.0.1.
 */
export function makeAccess(now: Clock) {
  const folder = `/${randomBytes(16).toString('base64url')}`;
  const tokens = new Map<string, { readonly usedAt: number }>();
  const sessions = new Map<string, Session>();
  const once = makeOnce(isRefused); // of all sessions: a form of one that has ended can be gone back to in the next
  return { folder, makeToken, redeem, sessionOf, signOut };

  /** Makes a token. Of those that nobody used the latest ten are good. */
  function makeToken(): string {
    const { secret, hash } = makeSecret();
    tokens.set(hash, { usedAt: now() });
    forgetOldest(tokens, 10);
    return secret;
  }

  /** Takes a token. Returns the cookie of a new session, or `undefined` where the token is not good, or no longer. */
  function redeem(token: string): string | undefined {
    const hash = digest(token);
    const isGood = isAlive(tokens.get(hash));
    tokens.delete(hash);
    if (!isGood) return undefined;
    const made = makeSecret();
    sessions.set(made.hash, { usedAt: now(), once });
    forgetOldest(sessions, 50);
    return cookieOf(made.secret);
  }

  /** Returns the session of a `Cookie` header. A page that renews itself does not keep it alive: only a click does. */
  function sessionOf(header: string, isRenewal: boolean): Session | undefined {
    for (const hash of hashesIn(header)) {
      const session = sessions.get(hash);
      if (session && isAlive(session)) {
        if (!isRenewal) session.usedAt = now();
        return session;
      }
      sessions.delete(hash);
    }
    return undefined;
  }

  /** Ends the session of a `Cookie` header. Returns the cookie that removes it from the browser. */
  function signOut(header: string): string {
    for (const hash of hashesIn(header)) sessions.delete(hash);
    return `${cookieOf('')}; Max-Age=0`;
  }

  function isAlive(used: { readonly usedAt: number } | undefined): boolean {
    return used !== undefined && now() - used.usedAt < longestUnused;
  }

  function cookieOf(secret: string): string {
    return `${cookieName}=${secret}; Path=${folder}/; HttpOnly; SameSite=Strict`;
  }
}

/** The session of a browser. */
export interface Session {
  /** Its last click, in milliseconds since the epoch. */
  usedAt: number;
  /** The outcome of its last action, with the mark of its form, until the next page has shown it. */
  note?: { readonly at: string; readonly says: string; readonly mark: string | null | undefined } | undefined;
  /** Lets each form that it was shown act once. */
  readonly once: ReturnType<typeof makeOnce<Answer>>;
}

const cookieName = 'emissor_console';

/** Links that nobody opens and sessions that nobody uses end after an hour. In milliseconds. */
const longestUnused = 3_600_000;

/** Returns the hashes of all secrets that a `Cookie` header may have of us. */
function hashesIn(header: string): readonly string[] {
  return header.split(';').flatMap(pair => {
    const at = pair.indexOf('=');
    return pair.slice(0, at).trim() === cookieName ? [digest(pair.slice(at + 1).trim())] : [];
  });
}

/** Makes a secret. Its hash is kept in its place: the time of a look-up then tells nothing of the secret. */
function makeSecret() {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: digest(secret) };
}

/** A failure of another status may come after what was asked for was done. */
function isRefused(answer: Answer): boolean {
  return 'status' in answer && Math.floor((answer.status ?? 200) / 100) === 4;
}

function forgetOldest(hashes: Map<string, unknown>, most: number): void {
  const [oldest] = hashes.keys();
  if (hashes.size > most && oldest !== undefined) hashes.delete(oldest);
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
