import { createHash, randomBytes } from 'node:crypto';

/** The way into a console: one-time tokens that become sessions, and the folder under which its pages lie. */
export type Access = ReturnType<typeof makeAccess>;

/**
 * Makes the access to a console that lives as long as its process. A token of 256 bits is good once. It becomes a session, whose
 * cookie is bound to a random folder: cookies know no ports, and a cookie for `/` would go to every server on 127.0.0.1.
 */
export function makeAccess() {
  const folder = `/${randomBytes(16).toString('base64url')}`;
  const tokens = new Set<string>();
  const sessions = new Map<string, Session>();
  return { folder, makeToken, redeem, sessionOf };

  /** Makes a token. Of those that nobody used the latest ten are good. */
  function makeToken(): string {
    const { secret, hash } = makeSecret();
    tokens.add(hash);
    forgetOldest(tokens, 10);
    return secret;
  }

  /** Takes a token. Returns the cookie of a new session, or `undefined` where the token is not good, or no longer. */
  function redeem(token: string): string | undefined {
    if (!tokens.delete(digest(token))) return undefined;
    const { secret, hash } = makeSecret();
    sessions.set(hash, {});
    forgetOldest(sessions, 50);
    return `${cookieName}=${secret}; Path=${folder}/; HttpOnly; SameSite=Strict`;
  }

  /** Returns the session of a `Cookie` header. */
  function sessionOf(header = ''): Session | undefined {
    for (const pair of header.split(';')) {
      const at = pair.indexOf('=');
      const session = pair.slice(0, at).trim() === cookieName && sessions.get(digest(pair.slice(at + 1).trim()));
      if (session) return session;
    }
    return undefined;
  }
}

/** What a browser that got in is told next. */
export interface Session {
  /** What its last action did, until a page has said so. */
  note?: string | undefined;
}

const cookieName = 'emissor_console';

/** Makes a secret. Its hash is kept in its place: the time of a look-up then tells nothing of the secret. */
function makeSecret() {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: digest(secret) };
}

function forgetOldest(hashes: Set<string> | Map<string, unknown>, most: number): void {
  const [oldest] = hashes.keys();
  if (hashes.size > most && oldest !== undefined) hashes.delete(oldest);
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
