import type { ResolverOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { systemTime, withTimeout } from '../timer.ts';

/** Why a name has no address: there is none, its servers did not answer, or our own side failed. */
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
 * Returns every address, IPv4 and IPv6, that a DNS name has now.
 *
 * @throws {ResolutionError} when there is none, or the signal aborts first.
 */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** The part of a `node:dns` resolver that is used. */
export type NameServer = Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;

/**
 * Makes the resolver of webhook hosts. It asks DNS instead of `getaddrinfo`, which reads /etc/hosts and search domains, and
 * holds one of the four threads of libuv's pool for as long as a name server stays silent. Each name gets a resolver of its
 * own, so that cancelling one does not cancel the others and none outlives a freeze of the process. A and AAAA are asked at
 * once. Deliveries use IPv4, so an AAAA answer is waited for only briefly: it matters to the SSRF guard alone.
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
      // A name that is an alias of itself has an answer without addresses.
      if (addresses.length === 0) throw new ResolutionError('not_found', 'ENODATA');
      return notTooMany(addresses);
    } catch (error) {
      if (error instanceof ResolutionError) throw error;
      // A name may have IPv6 addresses alone; otherwise the failure of IPv4 is the result.
      const code = codeOf(error);
      const ipv6Only =
        faultOf(code) === 'not_found' ? await withTimeout(systemTime.after, ipv6, ipv6WaitMs) : undefined;
      if (ipv6Only?.length) return notTooMany(ipv6Only);
      throw new ResolutionError(faultOf(code), code);
    } finally {
      signal.removeEventListener('abort', cancel);
      cancel(); // queries that are still unanswered
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
 * Two queries of two seconds each: a name server that answers neither must not use up the attempt's deadline. Without `maxTimeout`
 * c-ares waits twice as long for the second one. The timers of Node.js add up to a second: 4.1 to 5.0 s in all (measured).
 */
export const nameServerOptions = { timeout: 2_000, maxTimeout: 2_000, tries: 2 } as const;

/** Creates a resolver that asks the name servers of this machine. */
export function makeNameServer(options: ResolverOptions = nameServerOptions): NameServer {
  return new Resolver(options);
}

/** An answer of 64 KiB holds thousands of addresses, each of which is judged: that takes us longer than a POST. */
function notTooMany(addresses: readonly string[]): readonly string[] {
  if (addresses.length > maximumAddresses) throw new ResolutionError('temporary', 'TOO_MANY_ADDRESSES');
  return addresses;
}

const maximumAddresses = 256;

/** The time that the AAAA answer is waited for once the A answer is there, in milliseconds. */
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
