import { isIPv4 } from 'node:net';
import { withoutTrailingDot } from './host-name.ts';
import { ResolutionError, type Resolve } from './resolver.ts';
import { guardAddresses } from './ssrf-guard.ts';
import { parseWebhookUrl, type UrlFinding } from './url-policy.ts';

/**
 * Where a URL leads.
 * - `found`: to these public addresses, of which a connection must take one;
 * - `refused`: by the URL policy or the address guard, with every finding, at least one;
 * - `unresolved`: nowhere just now. `detail` is the resolver's own word for it.
 */
export type Destination =
  | {
      readonly outcome: 'found';
      readonly url: URL;
      /** The host as DNS and certificates know it. */
      readonly name: string;
      readonly isLiteral: boolean;
      readonly addresses: readonly string[];
    }
  | { readonly outcome: 'refused'; readonly findings: readonly [UrlFinding, ...UrlFinding[]] }
  | { readonly outcome: 'unresolved'; readonly fault: 'not_found' | 'temporary'; readonly detail: string };

/**
 * Finds out where a URL leads now. An aborted signal ends it as `unresolved`, whatever the resolver does.
 *
 * @throws {ResolutionError} for a fault of our own.
 */
export type FindDestination = (text: string, signal: AbortSignal) => Promise<Destination>;

/** What finding destinations depends on. */
export interface DestinationDependencies {
  readonly resolve: Resolve;
  /** The service's own host names. */
  readonly ownHosts: readonly string[];
}

/** Makes the one judgement of URLs: at registration, at replacement and at every attempt. */
export function makeFindDestination({ resolve, ownHosts }: DestinationDependencies): FindDestination {
  return async function findDestination(text, signal) {
    const verdict = parseWebhookUrl(text, ownHosts);
    if (verdict.outcome === 'refused') return verdict;
    const { url } = verdict;
    const name = withoutTrailingDot(url.hostname);
    const isLiteral = isIPv4(name);
    let resolved: readonly string[];
    try {
      resolved = isLiteral ? [] : await untilAborted(resolve(name, signal), signal);
    } catch (error) {
      if (!(error instanceof ResolutionError) || error.fault === 'internal_error') throw error;
      return { outcome: 'unresolved', fault: error.fault, detail: error.message };
    }
    const guarded = guardAddresses(url, resolved);
    if (guarded.outcome === 'allowed') {
      return { outcome: 'found', url, name, isLiteral, addresses: guarded.addresses };
    }
    return { outcome: 'refused', findings: [{ code: 'url_not_public', detail: guarded.detail }] };
  };
}

/** Rejects as soon as the signal aborts, even if the promise never settles. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new ResolutionError('temporary', 'ECANCELLED'));
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}
