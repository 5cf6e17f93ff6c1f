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
  /** The registered URL. Each attempt checks it again. */
  readonly url: string;
  /** The request headers. The POST itself adds the host, length, accept and connection headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The maximum time from name resolution to the last response header, in milliseconds. */
  readonly deadlineMs: number;
  /** The maximum time for a TCP connection to an address, in milliseconds. After that, the next address is tried. */
  readonly connectTimeoutMs: number;
  /** Masks secrets in the response body before it is truncated to 1 KiB. */
  readonly redact?: Redact;
  /** Aborts the POST. Before the last header, the outcome is `given_up`. After that, the signal only stops reading the body. */
  readonly signal?: AbortSignal;
}

/** The reason why the response headers were incomplete. See `PostOutcome`. */
export type PostFailure = 'timeout' | 'connection' | 'tls' | 'dns' | 'blocked' | 'internal_error';

/**
 * The outcome of a POST. For `response`, the headers were complete, even if the body failed. For `given_up`, the signal aborted the POST. For
 * the other outcomes, the headers were incomplete. The URL policy or the SSRF guard causes `blocked`. The service itself causes
 * `internal_error`, for example if it has no free sockets. `errorCode` is for the log and never contains request data.
 */
export type PostOutcome = PostResult & PostTimes;

/** Sends one guarded POST. Never throws because of a receiver. */
export type GuardedPost = (request: PostRequest) => Promise<PostOutcome>;

export interface GuardedPostDependencies extends Pick<Time, 'now' | 'after' | 'turn'> {
  readonly post: PinnedPost;
  readonly resolve: Resolve;
  /** The service's own host names. */
  readonly ownHosts: readonly string[];
  /** Returns a random number in [0, 1), for the order of addresses. */
  readonly random: () => number;
}

/**
 * Creates the only function that sends requests to registered URLs. The function checks the URL, resolves its host and checks every address
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
    const recordResponse = () => {
      endDeadline();
      timing.recordResponse();
    };
    request.signal?.addEventListener('abort', giveUp, { once: true });
    if (request.signal?.aborted) giveUp();
    let result: PostResult;
    try {
      result = await post(request, { ...timing, recordResponse }, end.signal);
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
    if (signal.aborted) return abortResult(signal, null);
    if (destination.outcome === 'rejected') return rejectionResult(destination.findings[0]);
    if (destination.outcome === 'unresolved') return unresolvedResult(destination);
    const sent = await send(destination, request, timing, signal);
    switch (sent.outcome) {
      case 'aborted':
        return abortResult(signal, sent.isConnected ? 'no_headers' : 'connecting');
      case 'response': {
        const { outcome, status, headers, body, isTruncated } = sent;
        const bodyStart = bodyText(body, isTruncated, headers, request.redact ?? unchanged);
        return { outcome, status, headers, bodyStart };
      }
      case 'failed': {
        const { kind, cause, errorCode: code } = sent;
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
        accept: '*/*', // web application firewalls may block requests without this header
        'accept-encoding': 'identity', // so the byte limit applies to the text itself
        'content-length': Buffer.byteLength(request.body),
      },
      body: request.body,
      connectTimeoutMs: request.connectTimeoutMs,
      signal,
      onResponse: timing.recordResponse,
    };
    let connection: keyof Connections = 'reusable';
    let sent: PinnedRequestOutcome = { outcome: 'aborted', isConnected: false };
    for (const address of pickAddresses(addresses, random)) {
      sent = await postTo({ ...common, connection, address });
      // If the receiver closed a reused connection without a response, retry once on a new connection (RFC 9112 section 9.3.1).
      if (sent.outcome === 'failed' && sent.isStale) {
        connection = 'fresh';
        sent = await postTo({ ...common, connection, address });
      }
      if (sent.outcome !== 'failed' || sent.isConnected || sent.kind === 'internal_error') break;
    }
    return sent;
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

function abortResult(signal: AbortSignal, cause: FailureCause | null): PostResult {
  if (signal.reason === 'given_up') return { outcome: 'given_up' };
  return { outcome: 'timeout', cause, errorCode: 'DEADLINE' };
}

function rejectionResult({ rule, values }: UrlFinding): PostResult {
  const code = [rule, ...Object.values(values)].join(' ');
  // A name without an IPv4 address is unreachable, but does not indicate an attack.
  if (rule === 'ipv4') return { outcome: 'dns', cause: 'no_ipv4', errorCode: code };
  return { outcome: 'blocked', cause: null, errorCode: code };
}

function unresolvedResult({ fault, detail }: Extract<Destination, { outcome: 'unresolved' }>): PostResult {
  const causeIfNotFound = detail === 'ENODATA' ? 'no_ipv4' : 'unknown_name';
  const causeIfTemporary = detail === 'TOO_MANY_ADDRESSES' ? null : 'no_dns_answer';
  return { outcome: 'dns', cause: fault === 'not_found' ? causeIfNotFound : causeIfTemporary, errorCode: detail };
}

function unchanged(text: string): string {
  return text;
}
