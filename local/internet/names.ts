import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import type { AddressBook } from './address-book.ts';

/** Makes the names of the address book resolve, through every function of `node:dns` that finds addresses. */
export function answerNames(book: AddressBook): void {
  replaceLookups(book);
  replaceResolving(dns as unknown as Resolving, book, false);
  replaceResolving(dns.Resolver.prototype as unknown as Resolving, book, false);
  replaceResolving(dns.promises as unknown as Resolving, book, true);
  replaceResolving(dns.promises.Resolver.prototype as unknown as Resolving, book, true);
  syncBuiltinESMExports(); // without it, `import { lookup } from 'node:dns'` would still find the original
}

function replaceLookups(book: AddressBook): void {
  const original = dns.lookup as unknown as Callable;
  const originalPromised = dns.promises.lookup as unknown as Callable;
  const normalise = (options: unknown): LookupOptions =>
    typeof options === 'number' ? { family: options } : typeof options === 'object' && options !== null ? options : {};

  const promised = async function (this: unknown, name: unknown, options: unknown): Promise<unknown> {
    const addresses = book.addressesOf(String(name));
    if (!addresses) return originalPromised.call(this, name, options);
    const found = lookUp(String(name), addresses, normalise(options));
    return normalise(options).all ? found : found[0];
  };
  const called = function (this: unknown, name: unknown, ...rest: unknown[]): unknown {
    const addresses = book.addressesOf(String(name));
    if (!addresses) return original.call(this, name, ...rest);
    const options = rest.length > 1 ? normalise(rest[0]) : {};
    later(() => {
      const found = lookUp(String(name), addresses, options);
      return options.all ? [found] : [found[0]?.address, found[0]?.family];
    }, rest.at(-1) as Callback);
    return {};
  };
  Object.defineProperty(called, Symbol.for('nodejs.util.promisify.custom'), { value: promised });
  Object.assign(dns, { lookup: called });
  Object.assign(dns.promises, { lookup: promised });
}

function replaceResolving(target: Resolving, book: AddressBook, isPromised: boolean): void {
  const answerFor = (original: Callable, family: 4 | 6): Callable =>
    function (name, ...rest) {
      const addresses = book.addressesOf(String(name));
      if (!addresses) return original.call(this, name, ...rest);
      const answer = () => records(String(name), addresses, family, rest[0]);
      if (isPromised) return new Promise(settle => settle(answer()));
      later(() => [answer()], rest.at(-1) as Callback);
      return undefined;
    };
  const { resolve } = target;
  target.resolve4 = answerFor(target.resolve4, 4);
  target.resolve6 = answerFor(target.resolve6, 6);
  target.resolve = function (name, ...rest) {
    const [type] = rest;
    const isAddressQuery = typeof type !== 'string' || type === 'A' || type === 'AAAA';
    if (!isAddressQuery || !book.addressesOf(String(name))) return resolve.call(this, name, ...rest);
    const others = typeof type === 'string' ? rest.slice(1) : rest;
    return target[type === 'AAAA' ? 'resolve6' : 'resolve4'].call(this, name, ...others);
  };
}

type Resolving = Record<'resolve4' | 'resolve6' | 'resolve', Callable>;

/** A function of `node:dns`, whose overloads do not matter here: it is called through or answered for. */
type Callable = (this: unknown, ...words: unknown[]) => unknown;

interface LookupOptions {
  readonly family?: number | 'IPv4' | 'IPv6';
  readonly all?: boolean;
}

/** Answers as getaddrinfo would. */
function lookUp(name: string, addresses: readonly string[], options: LookupOptions) {
  const family = familyNumber(options);
  const found = addresses
    .map(address => ({ address, family: isIP(address) }))
    .filter(entry => family === 0 || entry.family === family);
  if (found.length === 0) throw fault(`getaddrinfo ENOTFOUND ${name}`, 'ENOTFOUND', 'getaddrinfo', name, -3008);
  return found;
}

/** Node's own functions call back later, never at once. */
function later(answer: () => readonly unknown[], callback: Callback): void {
  let outcome: readonly unknown[];
  try {
    outcome = [null, ...answer()];
  } catch (error) {
    outcome = [error];
  }
  process.nextTick(callback, ...outcome);
}

type Callback = (error: Error | null, ...answer: unknown[]) => void;

function familyNumber({ family }: LookupOptions): number {
  return family === 'IPv4' ? 4 : family === 'IPv6' ? 6 : Number(family ?? 0);
}

function fault(message: string, code: string, syscall: string, hostname: string, errno?: number): Error {
  return Object.assign(new Error(message), { code, syscall, hostname, ...(errno === undefined ? {} : { errno }) });
}

/** Answers as the A or AAAA records of a DNS server would. */
function records(name: string, addresses: readonly string[], family: 4 | 6, options: unknown): unknown[] {
  const syscall = family === 4 ? 'queryA' : 'queryAaaa';
  const found = addresses.filter(address => isIP(address) === family);
  if (found.length === 0) {
    const code = addresses.length === 0 ? 'ENOTFOUND' : 'ENODATA';
    throw fault(`${syscall} ${code} ${name}`, code, syscall, name);
  }
  const withTtl = typeof options === 'object' && options !== null && 'ttl' in options && options.ttl === true;
  return withTtl ? found.map(address => ({ address, ttl: 60 })) : found;
}
