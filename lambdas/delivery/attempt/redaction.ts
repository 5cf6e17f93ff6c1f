import type { Redact } from '../../platform/egress/body-text.ts';

/**
 * Creates the function that replaces credentials in a receiver's response with `***`. The credentials are the `Authorization` value, its part
 * after the scheme, and the password that `Basic` encodes. The function also finds a credential with `/` escaped as `\/`, as in some JSON,
 * and the start of a credential at a truncated end.
 */
export function makeRedaction(authorization: string | undefined): Redact {
  return function redact(text, isTruncated) {
    if (!authorization || text === '') return text;
    const ends = new Uint32Array(text.length);
    for (const secret of secretsIn(authorization)) markOccurrences(secret, text, isTruncated, ends);
    return mask(text, ends);
  };
}

function secretsIn(authorization: string): ReadonlySet<string> {
  const secrets = [authorization];
  const space = authorization.indexOf(' ');
  if (space >= 0) {
    const credential = authorization.slice(space).trimStart();
    secrets.push(credential);
    if (authorization.slice(0, space).toLowerCase() === 'basic') secrets.push(...passwordsIn(credential));
  }
  return new Set(secrets.flatMap(secret => [secret, secret.replaceAll('/', '\\/')]));
}

/** Decodes the password in both character sets that HTTP Basic clients use (RFC 7617 section 2.1). */
function passwordsIn(base64: string): readonly string[] {
  const bytes = Buffer.from(base64, 'base64');
  const passwords = [bytes.toString('utf8'), bytes.toString('latin1')].map(pair => /:(.*)/s.exec(pair)?.[1] ?? '');
  return passwords.filter(password => [...password].length >= minPasswordLength);
}

/** Shorter passwords are not redacted, because they could occur by chance in any text. */
const minPasswordLength = 8;

/**
 * Stores the end of each occurrence at the index of its start. If several occurrences start at one index, stores the longest. Runs in
 * linear time for any text (Knuth-Morris-Pratt algorithm).
 */
function markOccurrences(secret: string, text: string, isTruncated: boolean, ends: Uint32Array): void {
  const borders = bordersOf(secret);
  let matched = 0;
  for (let end = 1; end <= text.length; end++) {
    matched = extendedMatchLength(secret, borders, matched, text[end - 1]);
    const isCut = isTruncated && end === text.length && matched > 0;
    if (matched === secret.length || isCut) ends[end - matched] = Math.max(ends[end - matched] ?? 0, end);
  }
}

/** Returns the length of the longest border (a proper prefix that is also a suffix) for each prefix of the secret. */
function bordersOf(secret: string): Uint16Array {
  const borders = new Uint16Array(secret.length + 1);
  for (let length = 1; length < secret.length; length++) {
    borders[length + 1] = extendedMatchLength(secret, borders, borders[length] ?? 0, secret[length]);
  }
  return borders;
}

/** Returns the new length of the match with the secret after `character`. `matched` is the length before the character. */
function extendedMatchLength(
  secret: string,
  borders: Uint16Array,
  matched: number,
  character: string | undefined,
): number {
  let length = matched;
  while (length > 0 && secret[length] !== character) length = borders[length] ?? 0;
  return secret[length] === character ? length + 1 : 0;
}

/** Replaces overlapping occurrences with one `***`. */
function mask(text: string, ends: Uint32Array): string {
  let masked = '';
  for (let index = 0; index < text.length; ) {
    let end = ends[index] ?? 0;
    masked += end > 0 ? '***' : text[index];
    for (index += 1; index < end; index++) end = Math.max(end, ends[index] ?? 0);
  }
  return masked;
}
