import type { ResolverOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { systemTime, withTimeout } from '../timer.ts';

/** The reason why a name has no address. The name does not exist, its servers did not respond, or this function failed. */
export type ResolutionFault = 'not_found' | 'temporary' | 'internal_error';

/** Thrown when a name does not resolve. */
export class ResolutionError extends Error {
  override readonly name = 'ResolutionError';
  readonly fault: ResolutionFault;
  readonly code: string;
  /** @param code - the resolver's error code, such as `ENOTFOUND`. */
  constructor(fault: ResolutionFault, code: string) {
    super(code);
    this.fault = fault;
    this.code = code;
  }
}

/**
 * Returns all current IPv4 and IPv6 addresses of a DNS name.
 *
 * @throws {ResolutionError} if the name has no address, or if the signal aborts first.
 */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export type NameServer = Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;

/**
 * Creates the resolver of webhook hosts. It queries DNS directly, because `getaddrinfo` reads /etc/hosts and search domains and blocks one
 * of libuv's four threads while a name server does not respond. Each lookup has its own resolver, so it can be cancelled separately. A and
 * AAAA are queried in parallel. Deliveries use IPv4. Only the SSRF guard needs AAAA, so the wait for AAAA is short.
 */
export function makeResolver(newNameServer: () => NameServer = makeNameServer): Resolve {
  return async function resolve(name, signal) {
    if (signal.aborted) throw new ResolutionError('temporary', 'ECANCELLED');
    const server = newNameServer();
    const cancel = () => server.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const ipv6 = server.resolve6(name).catch((): readonly string[] => []);
    try {
      const ipv4 = await server.resolve4(name);
      const addresses = [...ipv4, ...((await withTimeout(systemTime.after, ipv6, ipv6WaitMs)) ?? [])];
      // If a name is an alias of itself, the response contains no addresses.
      if (addresses.length === 0) throw new ResolutionError('not_found', 'ENODATA');
      return limitAddresses(addresses);
    } catch (error) {
      if (error instanceof ResolutionError) throw error;
      // The name may have only IPv6 addresses. If it has none, the IPv4 error is the result.
      const code = codeOf(error);
      const ipv6Only =
        faultOf(code) === 'not_found' ? await withTimeout(systemTime.after, ipv6, ipv6WaitMs) : undefined;
      if (ipv6Only?.length) return limitAddresses(ipv6Only);
      throw new ResolutionError(faultOf(code), code);
    } finally {
      signal.removeEventListener('abort', cancel);
      cancel(); // queries still in flight
    }
  };
}

/** Rejects as soon as the signal aborts, even if the promise never settles. @throws {ResolutionError} */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new ResolutionError('temporary', 'ECANCELLED'));
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}

/**
 * The options for two queries of 2 s each, so an unresponsive name server does not use the whole attempt timeout. Without `maxTimeout`,
 * c-ares waits twice as long for the second query. The timers of Node.js add up to 1 s, so the total is 4.1 to 5.0 s (measured).
 */
export const nameServerOptions = { timeout: 2_000, maxTimeout: 2_000, tries: 2 } as const;

/** Creates a resolver that queries the system's name servers. */
export function makeNameServer(options: ResolverOptions = nameServerOptions): NameServer {
  return new Resolver(options);
}

/** Limits the number of addresses. A 64 KiB response contains thousands of addresses, and checking them would take longer than a POST. */
function limitAddresses(addresses: readonly string[]): readonly string[] {
  if (addresses.length > maximumAddresses) throw new ResolutionError('temporary', 'TOO_MANY_ADDRESSES');
  return addresses;
}

const maximumAddresses = 256;

/** The maximum wait for the AAAA response after the A response, in milliseconds. */
const ipv6WaitMs = 300;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EUNKNOWN';
}

function faultOf(code: string): ResolutionFault {
  if (notFound.has(code)) return 'not_found';
  return localErrors.has(code) ? 'internal_error' : 'temporary';
}

const notFound: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ENONAME', 'EBADNAME', 'EBADQUERY']);

const localErrors: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'ENOTINITIALIZED']);
