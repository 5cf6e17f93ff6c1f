import type { IncomingHttpHeaders } from 'node:http';
import { makeAfterEvents, type Time } from '../timer.ts';
import { bodyText, type Redact } from './body-text.ts';
import { type Connections, pickAddresses } from './connections.ts';
import { errorCode, type FailureCause } from './network-error.ts';
import type { PinnedPost, PinnedRequestOutcome } from './pinned-request.ts';
import { type PostListeners, type PostTimes, type PostTiming, startPostTiming } from './post-timing.ts';
import { requestTarget } from './request-target.ts';
import { type Destination, makeResolveDestination } from './resolve-destination.ts';
import type { Resolve } from './resolver.ts';
import type { UrlFinding } from './url-rules.ts';

/** One POST to a registered URL. */
export interface PostRequest extends PostListeners {
  /** The account that registered the URL. Connections are not shared between accounts. */
  readonly accountId: string;
  /** The URL as registered. Each attempt checks it again. */
  readonly url: string;
  /** The headers except host, length, accept and connection, which the POST sets itself. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds from resolving the host to the last response header. */
  readonly deadlineMs: number;
  /** Milliseconds in which an address must accept a TCP connection before the next one is tried. */
  readonly connectTimeoutMs: number;
  /** Masks secrets in the body read, before it is cut to 1 KiB. */
  readonly redact?: Redact;
  /** Aborts the POST. Before the last header, the outcome is `given_up`. After it, the signal only ends the reading of the body. */
  readonly signal?: AbortSignal;
}

/** The reason why the response's headers were not complete. See `PostOutcome`. */
export type PostFailure = 'timeout' | 'connection' | 'tls' | 'dns' | 'blocked' | 'internal_error';

/**
 * The outcome of a POST. For `response`, the headers were complete, even if the body failed. For `given_up`, the signal ended the POST.
 * The other outcomes had no complete headers. The URL policy or the SSRF guard caused `blocked`. The service itself caused
 * `internal_error`, for example without free sockets. `errorCode` is for the log and never contains sent data.
 */
export type PostOutcome = PostResult & PostTimes;

/** Sends one guarded POST. Never throws because of a receiver. */
export type GuardedPost = (request: PostRequest) => Promise<PostOutcome>;

export interface GuardedPostDependencies extends Pick<Time, 'now' | 'after' | 'turn'> {
  readonly post: PinnedPost;
  readonly resolve: Resolve;
  /** The service's own host names. */
  readonly ownHosts: readonly string[];
  /** Draws from [0, 1), for the order of addresses. */
  readonly random: () => number;
}

/**
 * Creates the only function that sends requests to registered URLs. It checks the URL, resolves its host and checks every address
 * (SSRF guard). It tries the allowed addresses one after another until one accepts a connection, and never follows redirects.
 */
export function makeGuardedPost(dependencies: GuardedPostDependencies): GuardedPost {
  const { post: postTo, now, random } = dependencies;
  const afterEvents = makeAfterEvents(dependencies);
  const resolveDestination = makeResolveDestination(dependencies);

  return async function guardedPost(request) {
    const timing = startPostTiming(request, now);
    const end = new AbortController();
    const giveUp = () => end.abort('given_up');
    const endDeadline = afterEvents(request.deadlineMs, () => end.abort('timeout'));
    const answered = () => {
      endDeadline();
      timing.answered();
    };
    request.signal?.addEventListener('abort', giveUp, { once: true });
    if (request.signal?.aborted) giveUp();
    let result: PostResult;
    try {
      result = await post(request, { ...timing, answered }, end.signal);
    } catch (error) {
      result = { outcome: 'internal_error', cause: null, errorCode: errorCode(error) };
    } finally {
      endDeadline();
      request.signal?.removeEventListener('abort', giveUp);
    }
    return { ...result, ...timing.times() };
  };

  async function post(request: PostRequest, timing: PostTiming, signal: AbortSignal): Promise<PostResult> {
    const destination = await resolveDestination(request.url, signal);
    if (signal.aborted) return endedBy(signal, null);
    if (destination.outcome === 'refused') return refusedFor(destination.findings[0]);
    if (destination.outcome === 'unresolved') return unresolvedFor(destination);
    const answer = await send(destination, request, timing, signal);
    switch (answer.outcome) {
      case 'aborted':
        return endedBy(signal, answer.isConnected ? 'no_headers' : 'connecting');
      case 'response': {
        const { outcome, status, headers, body, isTruncated } = answer;
        const bodyStart = bodyText(body, isTruncated, headers, request.redact ?? asItIs);
        return { outcome, status, headers, bodyStart };
      }
      case 'failed': {
        const { kind, cause, errorCode: code } = answer;
        return { outcome: kind, cause, errorCode: code };
      }
    }
  }

  /** Tries the addresses one after another, until one accepts a connection. */
  async function send(
    { url, host, isLiteral, addresses }: ResolvedDestination,
    request: PostRequest,
    timing: PostTiming,
    signal: AbortSignal,
  ): Promise<PinnedRequestOutcome> {
    const common = {
      accountId: request.accountId,
      port: url.port === '' ? 443 : Number(url.port),
      serverName: isLiteral ? '' : host,
      path: requestTarget(url),
      headers: {
        ...request.headers,
        host: url.port === '' ? host : `${host}:${url.port}`,
        accept: '*/*', // web application firewalls consider a request without it suspicious
        'accept-encoding': 'identity', // so that the byte limit applies to the text itself
        'content-length': Buffer.byteLength(request.body),
      },
      body: request.body,
      connectTimeoutMs: request.connectTimeoutMs,
      signal,
      onAnswered: timing.answered,
    };
    let connection: keyof Connections = 'kept';
    let answer: PinnedRequestOutcome = { outcome: 'aborted', isConnected: false };
    for (const address of pickAddresses(addresses, random)) {
      answer = await postTo({ ...common, connection, address });
      // The receiver closed a kept connection during its reuse: retry once on a new one (RFC 9112 section 9.3.1).
      if (answer.outcome === 'failed' && answer.isStale) {
        connection = 'fresh';
        answer = await postTo({ ...common, connection, address });
      }
      if (answer.outcome !== 'failed' || answer.isConnected || answer.kind === 'internal_error') break;
    }
    return answer;
  }
}

type PostResult =
  | {
      readonly outcome: 'response';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** The first KiB of the body, as text. */
      readonly bodyStart: string;
    }
  | { readonly outcome: 'given_up' }
  | { readonly outcome: PostFailure; readonly cause: FailureCause | null; readonly errorCode: string };

type ResolvedDestination = Extract<Destination, { outcome: 'resolved' }>;

/** Returns the result of a POST that its signal ended. */
function endedBy(signal: AbortSignal, cause: FailureCause | null): PostResult {
  if (signal.reason === 'given_up') return { outcome: 'given_up' };
  return { outcome: 'timeout', cause, errorCode: 'DEADLINE' };
}

function refusedFor({ rule, values }: UrlFinding): PostResult {
  const code = [rule, ...Object.values(values)].join(' ');
  // A name without an IPv4 address is unreachable, but not an attack.
  if (rule === 'ipv4') return { outcome: 'dns', cause: 'no_ipv4', errorCode: code };
  return { outcome: 'blocked', cause: null, errorCode: code };
}

function unresolvedFor({ fault, detail }: Extract<Destination, { outcome: 'unresolved' }>): PostResult {
  const ofUnknown = detail === 'ENODATA' ? 'no_ipv4' : 'unknown_name';
  const ofSilent = detail === 'TOO_MANY_ADDRESSES' ? null : 'no_dns_answer';
  return { outcome: 'dns', cause: fault === 'not_found' ? ofUnknown : ofSilent, errorCode: detail };
}

function asItIs(text: string): string {
  return text;
}
