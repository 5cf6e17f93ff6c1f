import type { Redact } from '../../platform/egress/body-text.ts';
import { findEncodedCharacters } from './encoded-characters.ts';
import { findOccurrences, type OccurrenceMarks } from './find-occurrences.ts';
import { withoutJsonEscapes } from './json-escapes.ts';

/**
 * Makes the function that masks, in what a receiver answered, the credential that we sent it: the `Authorization` value,
 * its credential part (what follows the scheme), what its `Basic` encodes, and that password alone. Each is found as it is, as
 * base64url, without its `=`, where any of its characters is percent-encoded or an HTML reference, and with JSON escapes, since
 * receivers echo headers in JSON and in pages; also where the end of what was read cuts it off. Other encodings are not looked for.
 */
export function makeRedaction(authorization: string | undefined): Redact {
  return function redact(text, isCut) {
    if (!authorization || text === '') return text;
    return mask(text, placesOf(text, isCut, secretsIn(authorization)));
  };
}

/** Returns all that must not be shown. */
function secretsIn(authorization: string): ReadonlySet<string> {
  const secrets = new Set([authorization]);
  const space = authorization.indexOf(' ');
  if (space >= 0) {
    const credential = authorization.slice(space).trimStart();
    secrets.add(credential);
    if (authorization.slice(0, space).toLowerCase() === 'basic') {
      for (const secret of decodings(credential).flatMap(pairAndPassword)) secrets.add(secret);
    }
  }
  for (const secret of [...secrets]) secrets.add(Buffer.from(secret).toString('base64'));
  return secrets;
}

function pairAndPassword(pair: string): string[] {
  const colon = pair.indexOf(':');
  const password = pair.slice(colon + 1);
  return colon >= 0 && [...password].length >= shortestPassword ? [pair, password] : [pair];
}

/** The places of a text at which a secret begins, and those at which one that began before goes on. */
interface Places {
  readonly begins: Uint8Array;
  readonly goesOn: Uint8Array;
}

/** Puts `***` in the place of each secret; those that overlap are masked as one. */
function mask(text: string, { begins, goesOn }: Places): string {
  const parts: string[] = [];
  let shown = 0;
  for (let index = 0; index < text.length; ) {
    const start = index;
    index += 1;
    if (!begins[start]) continue;
    while (index < text.length && goesOn[index]) index += 1;
    parts.push(text.slice(shown, start), '***');
    shown = index;
  }
  parts.push(text.slice(shown));
  return parts.join('');
}

function placesOf(text: string, isCut: boolean, secrets: ReadonlySet<string>): Places {
  const places = { begins: new Uint8Array(text.length + 1), goesOn: new Uint8Array(text.length + 1) };
  for (const { text: layer, starts } of layersOf(text)) {
    const startOf = (index: number) => starts[index] ?? text.length;
    // An escape that the text's end cuts off belongs to what is cut off with it.
    const endOf = (index: number) => (isCut && index === layer.length ? text.length : startOf(index));
    const marks: OccurrenceMarks = {
      begin: index => places.begins.fill(1, startOf(index), startOf(index) + 1),
      goOn: index => places.goesOn.fill(1, startOf(index), startOf(index) + 1),
      join: (start, end) => places.goesOn.fill(1, startOf(start) + 1, endOf(end)),
    };
    findOccurrences(secrets, { text: layer, encoded: findEncodedCharacters(layer), isCut }, marks);
  }
  return places;
}

/** Returns the texts that Base64 stands for, in either character set that HTTP Basic knows in practice (RFC 7617 section 2.1). */
function decodings(base64: string): string[] {
  if (!/^[A-Za-z0-9+/_-]{2,}={0,2}$/.test(base64)) return [];
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
