import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type AgentOptions } from 'node:https';
import { isIPv4 } from 'node:net';
import type { Clock } from '../clock.ts';
import { guardAddresses } from './address-guard.ts';
import { type ExchangeOutcome, exchange } from './exchange.ts';
import { codeOf } from './failure.ts';
import { withoutTrailingDot } from './host-name.ts';
import { ResolutionError, type Resolve } from './resolver.ts';
import { parseWebhookUrl } from './url-policy.ts';

/** One POST to a registered URL. */
export interface PostRequest {
  /** The URL as registered: it is judged again each time. */
  readonly url: string;
  /** Host, length, encoding and connection headers are set here and need not be given. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds from resolving the name to the last response header; reading the body ends then too. */
  readonly deadlineMs: number;
  /**
   * Removes what must not be kept; applied to all of the body that was read, before it is cut to 1 KiB. `isCut`: there was
   * more of it, so that its end may be the beginning of something.
   */
  readonly redact?: Redact;
  /** Gives the attempt up as a fault of our own. */
  readonly signal?: AbortSignal;
}

/** Removes from a text what must not be kept. */
export type Redact = (text: string, isCut: boolean) => string;

/** Why there was no complete response; see `PostOutcome`. */
export type PostFailure = 'timeout' | 'connection' | 'tls' | 'dns' | 'blocked' | 'own_fault';

/**
 * What came of it. `response`: the headers were complete, whatever the body did then. Otherwise no complete response:
 * `blocked` by the URL policy or the address guard, `own_fault` when the function itself had no sockets or network.
 * `detail` names the cause in a few words and never holds what was sent. Durations in milliseconds.
 */
export type PostOutcome =
  | {
      readonly outcome: 'response';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** The first KiB of the body, as UTF-8. */
      readonly bodyStart: string;
      readonly durationMs: number;
    }
  | { readonly outcome: PostFailure; readonly detail: string; readonly durationMs: number };

/** Sends one guarded POST. Never throws for what a receiver did. */
export type GuardedPost = (request: PostRequest) => Promise<PostOutcome>;

/** What the guarded POST stands on. */
export interface GuardedPostDependencies {
  readonly resolve: Resolve;
  /** The service's own host names. */
  readonly ownHosts: readonly string[];
  readonly now: Clock;
  /** Makes the connection pools; `https.Agent` unless told otherwise. */
  readonly makeAgent?: (options: AgentOptions) => Agent;
}

/**
 * How long an idle connection is kept, in milliseconds. Lambda freezes functions between invocations, and a connection
 * that slept through one is closed at the other end more often than not.
 */
const idleMs = 1_000;
/** The most bytes that are kept of a response's body. */
const keptBytes = 1_024;

type Failed = { readonly outcome: PostFailure; readonly detail: string };

/** Rejects as soon as the signal aborts, even if the promise never settles. */
const untilAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });

const describeResolutionFailure = (error: unknown): Failed => {
  if (!(error instanceof ResolutionError)) return { outcome: 'own_fault', detail: codeOf(error) };
  return { outcome: error.fault === 'own_fault' ? 'own_fault' : 'dns', detail: error.message };
};

const startOf = (body: Buffer, isCut: boolean, redact: Redact): string => {
  const text = redact(new TextDecoder().decode(body), isCut);
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(keptBytes)).read);
};

/**
 * Makes the only way out to registered URLs: judge the URL, resolve its name, judge every address, then connect to the
 * very address that was judged. The agents key their connections on address *and* name, so a kept-alive one is only
 * used again when the same address has just been judged again. Redirects are never followed.
 */
export const makeGuardedPost = ({
  resolve,
  ownHosts,
  now,
  makeAgent = options => new Agent(options),
}: GuardedPostDependencies): GuardedPost => {
  const pool = makeAgent({ keepAlive: true, timeout: idleMs, rejectUnauthorized: true });
  const fresh = makeAgent({ keepAlive: false, rejectUnauthorized: true });

  const attempt = async (request: PostRequest, signal: AbortSignal): Promise<ExchangeOutcome | Failed> => {
    const verdict = parseWebhookUrl(request.url, ownHosts);
    if (verdict.outcome === 'refused') return { outcome: 'blocked', detail: verdict.detail };
    const { url } = verdict;
    const name = withoutTrailingDot(url.hostname);
    const isLiteral = isIPv4(name);

    let addresses: readonly string[] = [];
    try {
      if (!isLiteral) addresses = await untilAborted(resolve(name, signal), signal);
    } catch (error) {
      return signal.aborted ? { outcome: 'aborted' } : describeResolutionFailure(error);
    }
    const guarded = guardAddresses(url, addresses);
    if (guarded.outcome === 'refused') return { outcome: 'blocked', detail: guarded.detail };

    const send = (agent: Agent) =>
      exchange({
        agent,
        address: guarded.address,
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
        signal,
      });
    const answer = await send(pool);
    // The receiver had closed a kept connection while we took it up: that is nobody's failure (RFC 9112 section 9.3.1).
    return answer.outcome === 'failed' && answer.isStale ? send(fresh) : answer;
  };

  return async request => {
    const startedAt = now();
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), request.deadlineMs);
    const signal = request.signal ? AbortSignal.any([end.signal, request.signal]) : end.signal;
    const result = await attempt(request, signal).finally(() => clearTimeout(timer));
    const durationMs = now() - startedAt;
    switch (result.outcome) {
      case 'response': {
        const { outcome, status, headers, body, isCut } = result;
        const bodyStart = startOf(body, isCut, request.redact ?? (text => text));
        return { outcome, status, headers, bodyStart, durationMs };
      }
      case 'aborted':
        return end.signal.aborted
          ? { outcome: 'timeout', detail: `no complete response in ${request.deadlineMs} ms`, durationMs }
          : { outcome: 'own_fault', detail: 'given up', durationMs };
      case 'failed':
        return { outcome: result.kind, detail: result.detail, durationMs };
      default:
        return { ...result, durationMs };
    }
  };
};
