import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import { keptBytes } from './body-start.ts';
import { drawAddresses, type MakeAgent, makeConnections } from './connections.ts';
import { type Destination, makeFindDestination } from './destination.ts';
import { codeOf } from './failure.ts';
import { type ExchangeOutcome, exchange } from './pinned-request.ts';
import { followProgress, type PostListeners, type PostTimes, type Progress } from './progress.ts';
import type { Reachability } from './reachability.ts';
import { ResolutionError, type Resolve } from './resolver.ts';

/** One POST to a registered URL. */
export interface PostRequest extends PostListeners {
  /** The URL as registered: it is judged again each time. */
  readonly url: string;
  /** Host, length, encoding and connection headers are set here and need not be given. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds from resolving the name to the last response header. */
  readonly deadlineMs: number;
  /** Milliseconds in which each address must accept a connection (TCP), else the next one is tried. */
  readonly connectTimeoutMs: number;
  /**
   * Removes what must not be kept; applied to all of the body that was read, before it is cut to 1 KiB. `isCut`: there was
   * more of it, so that its end may be the beginning of something.
   */
  readonly redact?: Redact;
  /** Gives the POST up: before the last header its outcome is `given_up`, afterwards only the reading of the body ends. */
  readonly signal?: AbortSignal;
}

/** Removes from a text what must not be kept. */
export type Redact = (text: string, isCut: boolean) => string;

/** Why there was no complete response; see `PostOutcome`. */
export type PostFailure = 'timeout' | 'connection' | 'tls' | 'dns' | 'blocked' | 'internal_error';

/**
 * What came of it. `response`: the headers were complete, whatever the body did then. `given_up`: by the signal.
 * Otherwise no complete response: `blocked` by the URL policy or the address guard, `internal_error` when the function itself
 * had no sockets or network. `detail` names the cause in a few words and never holds what was sent.
 */
export type PostOutcome = PostResult & PostTimes;

/** Sends one guarded POST. Never throws for what a receiver did. */
export type GuardedPost = (request: PostRequest) => Promise<PostOutcome>;

/** What the guarded POST depends on. */
export interface GuardedPostDependencies {
  readonly resolve: Resolve;
  /** The service's own host names. */
  readonly ownHosts: readonly string[];
  readonly reachability: Reachability;
  readonly now: Clock;
  /** Draws from [0, 1): the order in which addresses are tried. */
  readonly random: () => number;
  readonly makeAgent?: MakeAgent;
}

/**
 * Makes the only way out to registered URLs: judge the URL, resolve its name, judge every address, then connect to one of
 * the very addresses that were judged; to another one if that takes too long or fails. Redirects are never followed.
 */
export function makeGuardedPost(dependencies: GuardedPostDependencies): GuardedPost {
  const { reachability, now, random, makeAgent } = dependencies;
  const findDestination = makeFindDestination(dependencies);
  const connections = makeConnections(makeAgent);

  const send = async (found: Found, request: PostRequest, progress: Progress, signal: AbortSignal) => {
    const { url, name, isLiteral, addresses } = found;
    const common = {
      port: url.port === '' ? 443 : Number(url.port),
      serverName: isLiteral ? '' : name,
      path: `${url.pathname}${url.search}`,
      headers: {
        ...request.headers,
        host: url.port === '' ? name : `${name}:${url.port}`,
        'accept-encoding': 'identity', // what is read is then what is counted
        'content-length': Buffer.byteLength(request.body),
      },
      body: request.body,
      connectTimeoutMs: request.connectTimeoutMs,
      signal,
      onConnected: reachability.connected,
      onAnswered: () => {
        reachability.connected(); // over a kept connection too
        progress.answered();
      },
    };
    let answer: ExchangeOutcome | undefined;
    for (const address of drawAddresses(addresses, random)) {
      answer = await exchange({ ...common, agent: connections.kept, address });
      // The receiver had closed a kept connection while we took it up: that is nobody's failure (RFC 9112 section 9.3.1).
      if (answer.outcome === 'failed' && answer.isStale) {
        answer = await exchange({ ...common, agent: connections.fresh, address });
      }
      if (answer.outcome !== 'failed' || answer.isConnected || answer.kind === 'internal_error') break;
    }
    return answer;
  };

  const attempt = async (request: PostRequest, progress: Progress, signal: AbortSignal) => {
    const found = await findDestination(request.url, signal);
    if (signal.aborted) return undefined;
    progress.resolved();
    if (found.outcome === 'refused') return { outcome: 'blocked', detail: found.findings[0].detail } satisfies Failed;
    if (found.outcome === 'unresolved') return { outcome: 'dns', detail: found.detail } satisfies Failed;
    progress.connecting();
    const answer = await send(found, request, progress, signal);
    if (answer === undefined || answer.outcome === 'aborted') return undefined;
    if (answer.outcome === 'response') {
      const { outcome, status, headers, body, isCut } = answer;
      return { outcome, status, headers, bodyStart: startOf(body, isCut, request.redact ?? (text => text)) };
    }
    const { kind, detail } = answer;
    if (kind !== 'unreachable') return { outcome: kind, detail } satisfies Failed;
    return { outcome: reachability.unreachable(found.name) ? 'internal_error' : 'connection', detail } satisfies Failed;
  };

  return async function guardedPost(request) {
    const progress = followProgress(request, now);
    const end = new AbortController();
    const giveUp = () => end.abort('given_up');
    const timer = setTimeout(() => end.abort('timeout'), request.deadlineMs);
    const answered = () => {
      clearTimeout(timer);
      progress.answered();
    };
    request.signal?.addEventListener('abort', giveUp, { once: true });
    if (request.signal?.aborted) giveUp();
    let result: PostResult | undefined;
    try {
      result = await attempt(request, { ...progress, answered }, end.signal);
    } catch (error) {
      result = describeFault(error);
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', giveUp);
    }
    if (result === undefined && end.signal.reason === 'timeout') {
      result = { outcome: 'timeout', detail: `no complete response in ${request.deadlineMs} ms` };
    }
    return { ...(result ?? { outcome: 'given_up' }), ...progress.times() };
  };
}

/** What happened. */
type PostResult =
  | {
      readonly outcome: 'response';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** The first KiB of the body, as UTF-8. */
      readonly bodyStart: string;
    }
  | { readonly outcome: 'given_up' }
  | { readonly outcome: PostFailure; readonly detail: string };

type Found = Extract<Destination, { outcome: 'found' }>;
type Failed = { readonly outcome: PostFailure; readonly detail: string };

function startOf(body: Buffer, isCut: boolean, redact: Redact): string {
  // A character that the cut goes through is left out.
  const text = redact(new TextDecoder().decode(body, { stream: isCut }), isCut);
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(keptBytes)).read);
}

function describeFault(error: unknown): Failed {
  return {
    outcome: 'internal_error',
    detail: error instanceof ResolutionError ? error.message : codeOf(error),
  };
}
