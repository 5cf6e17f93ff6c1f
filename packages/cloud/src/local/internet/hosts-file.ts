import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** Name -> entry. */
export type HostTable = ReadonlyMap<string, HostEntry>;

/** Returns a host name as it is looked up: lower case, ASCII, without the root's dot. `undefined` where it is none. */
export function normaliseName(text: string): string | undefined {
  const name = domainToASCII(text.trim().replace(/\.$/, '').toLowerCase());
  return name.length <= 253 && isIP(name) === 0 && labels.test(name) ? name : undefined;
}

/**
 * Parses `HOST=http://127.0.0.1:PORT`.
 *
 * @throws {TypeError} with a sentence that says what is wrong.
 */
export function parseMapping(text: string): { readonly name: string; readonly port: number } {
  const at = text.indexOf('=');
  const name = at > 0 ? normaliseName(text.slice(0, at)) : undefined;
  if (at < 1 || name === undefined) throw new TypeError('It must be HOST=http://127.0.0.1:PORT.');
  const port = portOf(text.slice(at + 1));
  if (port === undefined) throw new TypeError(`"${name}" must lead to http://127.0.0.1:PORT.`);
  return { name, port };
}

/**
 * Parses the text of a hosts file.
 *
 * @throws {TypeError} with a sentence that says what is wrong.
 */
export function parseHosts(text: string): HostTable {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new TypeError('It is not JSON.');
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new TypeError('It must be one JSON object of names.');
  }
  return new Map(
    Object.entries(content).map(([key, value]) => {
      const name = normaliseName(key);
      if (name === undefined) throw new TypeError(`"${key}" is not a host name.`);
      return [name, parseEntry(name, value)];
    }),
  );
}

/** Reads a hosts file. @throws {TypeError | NodeJS.ErrnoException} */
export function readHosts(path: string): HostTable {
  return parseHosts(readFileSync(path, 'utf8'));
}

/** By how much a mapped host keeps its callers waiting, in milliseconds. */
export interface HostDelays {
  /** Until its name is resolved. */
  readonly resolvesAfter: number;
  /** From the first bytes of a TLS handshake to the answer. */
  readonly handshakeAfter: number;
}

/**
 * The target of a name: the port of a plain HTTP server on 127.0.0.1, or the addresses that it resolves to
 * (which lead nowhere of ours; none at all means that the name does not exist).
 */
type HostEntry =
  | { readonly port: number; readonly delays?: Partial<HostDelays> }
  | { readonly addresses: readonly string[] };

const labels = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9])?)*$/;

function portOf(text: string): number | undefined {
  const [, digits] = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{1,5})\/?$/.exec(text) ?? [];
  const port = Number(digits);
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function parseEntry(name: string, value: unknown): HostEntry {
  if (typeof value === 'string') {
    const port = portOf(value);
    if (port !== undefined) return { port };
  } else if (Array.isArray(value)) {
    if (value.every(address => typeof address === 'string' && isIP(address) !== 0)) return { addresses: value };
  } else if (typeof value === 'object' && value !== null) {
    const { url, ...delays } = value as Record<string, unknown>;
    const port = typeof url === 'string' ? portOf(url) : undefined;
    if (port !== undefined && areDelays(delays)) return { port, delays };
  }
  throw new TypeError(`"${name}" must be "http://127.0.0.1:PORT", {"url": …} with delays, or a list of IP addresses.`);
}

function areDelays(fields: Record<string, unknown>): boolean {
  return Object.entries(fields).every(
    ([name, value]) =>
      (name === 'resolvesAfter' || name === 'handshakeAfter') &&
      typeof value === 'number' &&
      value >= 0 &&
      value <= longestDelay,
  );
}

/** An hour; a timer takes no more than 24 days. */
const longestDelay = 3_600_000;
