import { Resolver } from 'node:dns/promises';

/** Why a name gave no address: there is none, or its servers (or ours) did not say. */
export type ResolutionFault = 'not_found' | 'temporary' | 'internal_error';

/** Thrown when a name does not resolve. */
export class ResolutionError extends Error {
  override readonly name = 'ResolutionError';
  readonly fault: ResolutionFault;
  /** @param code - the resolver's own word for it, such as `ENOTFOUND`. */
  constructor(fault: ResolutionFault, code: string) {
    super(code);
    this.fault = fault;
  }
}

/**
 * Gives every address, IPv4 and IPv6, that a DNS name has now.
 *
 * @throws {ResolutionError} when there is none, or the signal aborts first.
 */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** The part of a `node:dns` resolver that is used. */
export type NameServer = Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;

/**
 * Makes the resolver of webhook hosts. It asks DNS itself rather than `getaddrinfo`: that would read /etc/hosts and
 * search domains, and hold one of the four threads of the pool for as long as a silent name server likes.
 * A name server of its own for each name, so that giving one up does not cancel the others, and none outlives a freeze.
 * Both families are asked for at once. Deliveries go out over IPv4: an IPv6 answer counts if it comes in time, and name
 * servers that leave the question unanswered cost little.
 */
export function makeResolver(newNameServer: () => NameServer = makeNameServer): Resolve {
  return async function resolver(name, signal) {
    if (signal.aborted) throw new ResolutionError('temporary', 'ECANCELLED');
    const server = newNameServer();
    const cancel = () => server.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const six = server.resolve6(name).catch((): readonly string[] => []);
    try {
      const four = await server.resolve4(name);
      return [...four, ...((await inTime(six, patienceMs)) ?? [])];
    } catch (error) {
      // Without IPv4 there is only its failure to report, unless the name has IPv6 alone.
      const code = codeOf(error);
      const alone = faultOf(code) === 'not_found' ? await inTime(six, patienceMs) : undefined;
      if (alone?.length) return alone;
      throw new ResolutionError(faultOf(code), code);
    } finally {
      signal.removeEventListener('abort', cancel);
      cancel(); // what is still unanswered
    }
  };
}

/** Names that answer neither in this many milliseconds, nor when asked a second time, are not worth an attempt's deadline. */
function makeNameServer(): NameServer {
  return new Resolver({ timeout: 2_000, tries: 2 });
}

/** What a promise gives in time, `undefined` where it is late. */
async function inTime<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** How long the answer for IPv6 is waited for once there is one for IPv4, in milliseconds. */
const patienceMs = 300;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EUNKNOWN';
}

function faultOf(code: string): ResolutionFault {
  if (absent.has(code)) return 'not_found';
  return ownFaults.has(code) ? 'internal_error' : 'temporary';
}

const absent: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ENONAME', 'EBADNAME', 'EBADQUERY']);
const ownFaults: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'ENOTINITIALIZED']);
