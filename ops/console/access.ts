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
  const sessions = new Set<string>();
  return { folder, makeToken, redeem, isOpen };

  /** Makes a token. Of those that nobody used the latest ten are good. */
  function makeToken(): string {
    return keep(tokens, 10);
  }

  /** Takes a token. Returns the cookie of a new session, or `undefined` where the token is not good, or no longer. */
  function redeem(token: string): string | undefined {
    if (!tokens.delete(digest(token))) return undefined;
    return `${cookieName}=${keep(sessions, 50)}; Path=${folder}/; HttpOnly; SameSite=Strict`;
  }

  /** Returns whether a `Cookie` header holds a session. */
  function isOpen(header = ''): boolean {
    return header.split(';').some(pair => {
      const at = pair.indexOf('=');
      return pair.slice(0, at).trim() === cookieName && sessions.has(digest(pair.slice(at + 1).trim()));
    });
  }
}

const cookieName = 'emissor_console';

/** Makes a secret and keeps its hash: the time of a look-up then tells nothing of the secret. The oldest is forgotten. */
function keep(hashes: Set<string>, most: number): string {
  const secret = randomBytes(32).toString('base64url');
  hashes.add(digest(secret));
  const [oldest] = hashes;
  if (hashes.size > most && oldest !== undefined) hashes.delete(oldest);
  return secret;
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
