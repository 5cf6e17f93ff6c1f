import type { Redact } from '../../platform/egress/guarded-post.ts';
import { findOccurrences } from './find-occurrences.ts';
import { withoutJsonEscapes } from './json-escapes.ts';

/**
 * Makes the function that masks, in what a receiver answered, the credential that we sent it: the `Authorization` value,
 * its credential part (what follows the scheme), what its `Basic` encodes, and that password alone. Each is found as it
 * is and with JSON escapes, since receivers echo headers in JSON, and also where the end of what was read cuts it off.
 */
export function makeRedaction(authorization: string | undefined): Redact {
  if (!authorization) return text => text;
  const secrets = secretsIn(authorization);
  return function redact(text, isCut) {
    return mask(text, endsOfSecrets(text, isCut, secrets));
  };
}

/** Returns all that must not be shown. */
function secretsIn(authorization: string): ReadonlySet<string> {
  const secrets = new Set([authorization]);
  const space = authorization.indexOf(' ');
  if (space < 0) return secrets;
  const credential = authorization.slice(space).trimStart();
  secrets.add(credential);
  if (authorization.slice(0, space).toLowerCase() !== 'basic') return secrets;
  for (const pair of decodings(credential)) {
    secrets.add(pair);
    const colon = pair.indexOf(':');
    const password = pair.slice(colon + 1);
    if (colon >= 0 && [...password].length >= shortestPassword) secrets.add(password);
  }
  return secrets;
}

/** Puts `***` in the place of each secret; those that overlap are masked as one. */
function mask(text: string, ends: Uint32Array): string {
  const parts: string[] = [];
  let shown = 0;
  for (let index = 0; index < text.length; ) {
    let end = ends[index] ?? 0;
    if (end === 0) {
      index += 1;
      continue;
    }
    parts.push(text.slice(shown, index), '***');
    for (; index < end; index++) end = Math.max(end, ends[index] ?? 0);
    shown = end;
  }
  parts.push(text.slice(shown));
  return parts.join('');
}

/** For each character of a text where the longest secret that begins there ends; 0 where none begins. */
function endsOfSecrets(text: string, isCut: boolean, secrets: ReadonlySet<string>): Uint32Array {
  const ends = new Uint32Array(text.length);
  const mark = (start: number, end: number) => {
    if (end > (ends[start] ?? end)) ends[start] = end;
  };
  for (const { text: layer, starts } of layersOf(text)) {
    const origin = (index: number) => starts[index] ?? text.length;
    for (const secret of secrets) {
      const found = findOccurrences(secret, layer);
      for (const start of found.starts) mark(origin(start), origin(start + secret.length));
      // An escape that the end cuts off may be the secret's first character, or its next one.
      if (isCut) mark(origin(layer.length - found.remnant), text.length);
    }
  }
  return ends;
}

/** Returns the texts that Base64 stands for, in either character set that HTTP Basic knows in practice (RFC 7617 section 2.1). */
function decodings(base64: string): string[] {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) return [];
  const bytes = Buffer.from(base64, 'base64');
  return [new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), bytes.toString('latin1')];
}

/** A password alone is masked from this many characters on: shorter ones are words that stand in any text. */
const shortestPassword = 8;

/** Returns a text as it is, and with its escapes undone once and more often, each with the way back to the text. */
function* layersOf(text: string) {
  let layer = { text, starts: Uint32Array.from({ length: text.length + 1 }, (_, index) => index) };
  yield layer;
  for (let depth = 0; depth < deepestEscape && layer.text.includes('\\'); depth++) {
    const { starts } = layer;
    const unescaped = withoutJsonEscapes(layer.text);
    layer = { text: unescaped.text, starts: unescaped.starts.map(index => starts[index] ?? text.length) };
    yield layer;
  }
}

/** The most times that escapes are undone: a receiver's log may quote JSON within JSON. */
const deepestEscape = 2;
