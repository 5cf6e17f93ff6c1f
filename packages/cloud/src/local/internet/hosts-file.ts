import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { parseObject } from '../followed-file.ts';

/** The target of each name. */
export type HostTable = ReadonlyMap<string, HostTarget>;

/** The port of an HTTP server on 127.0.0.1, or the addresses of the name. A name without addresses does not exist. */
type HostTarget = number | readonly string[];

/** Normalises a host name to lower-case ASCII without the trailing dot. Returns `undefined` if it is invalid. */
export function normaliseName(text: string): string | undefined {
  const name = domainToASCII(text.trim().replace(/\.$/, '').toLowerCase());
  return name.length <= 253 && isIP(name) === 0 && labels.test(name) ? name : undefined;
}

/** Parses `HOST=http://127.0.0.1:PORT`. @throws {TypeError} if the text is invalid. The message is one sentence */
export function parseMapping(text: string): { readonly name: string; readonly port: number } {
  const at = text.indexOf('=');
  const name = normaliseName(text.slice(0, Math.max(at, 0)));
  if (name === undefined) throw new TypeError('It must be HOST=http://127.0.0.1:PORT.');
  const port = portOf(text.slice(at + 1));
  if (port === undefined) throw new TypeError(`"${name}" must map to http://127.0.0.1:PORT.`);
  return { name, port };
}

/** Parses a hosts file. @throws {TypeError} if the text is invalid. The message is one sentence */
export function parseHosts(text: string): HostTable {
  return new Map(
    Object.entries(parseObject(text)).map(([key, value]) => {
      const name = normaliseName(key);
      if (name === undefined) throw new TypeError(`"${key}" is not a host name.`);
      const target = Array.isArray(value) && value.every(isAddress) ? value : portOf(value);
      if (target !== undefined) return [name, target];
      throw new TypeError(`"${name}" must be "http://127.0.0.1:PORT" or a list of IP addresses.`);
    }),
  );
}

const labels = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9])?)*$/;

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && isIP(value) !== 0;
}

function portOf(url: unknown): number | undefined {
  const [, digits] = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{1,5})\/?$/.exec(String(url)) ?? [];
  const port = Number(digits);
  return port >= 1 && port <= 65_535 ? port : undefined;
}
