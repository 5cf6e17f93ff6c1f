import { ResolutionError, type ResolutionFault, type Resolve, untilAborted } from './resolver.ts';
import { guardAddresses } from './ssrf-guard.ts';
import { parseWebhookUrl } from './url-policy.ts';
import type { UrlFinding } from './url-rules.ts';

/**
 * The destination of a URL:
 * - `resolved`: The URL has public addresses. Connections may use only these addresses.
 * - `rejected`: The URL policy or the SSRF guard rejected the URL. `findings` lists all reasons.
 * - `unresolved`: The host currently has no address. `detail` is the resolver's error code.
 */
export type Destination =
  | {
      readonly outcome: 'resolved';
      readonly url: URL;
      /** The host name in the form for DNS and certificates, or an IPv4 literal. */
      readonly host: string;
      readonly isLiteral: boolean;
      readonly addresses: readonly string[];
    }
  | { readonly outcome: 'rejected'; readonly findings: readonly [UrlFinding, ...UrlFinding[]] }
  | {
      readonly outcome: 'unresolved';
      readonly fault: Exclude<ResolutionFault, 'internal_error'>;
      readonly detail: string;
    };

/**
 * Checks a URL, resolves its host and checks every address. Returns `unresolved` if the signal aborts during resolution.
 *
 * @throws {ResolutionError} for an internal error.
 */
export type ResolveDestination = (text: string, signal: AbortSignal) => Promise<Destination>;

/** Creates the check of URLs (URL policy, DNS, SSRF guard) for registration, replacement and every attempt. */
export function makeResolveDestination({
  resolve,
  ownHosts,
}: {
  readonly resolve: Resolve;
  readonly ownHosts: readonly string[];
}): ResolveDestination {
  return async function resolveDestination(text, signal) {
    const verdict = parseWebhookUrl(text, ownHosts);
    if (verdict.outcome === 'rejected') return verdict;
    const { url, host, isLiteral } = verdict;
    let addresses: readonly string[];
    try {
      addresses = isLiteral ? [host] : await untilAborted(resolve(host, signal), signal);
    } catch (error) {
      if (!(error instanceof ResolutionError) || error.fault === 'internal_error') throw error;
      return { outcome: 'unresolved', fault: error.fault, detail: error.message };
    }
    const addressVerdict = guardAddresses(addresses);
    if (addressVerdict.outcome === 'allowed') {
      return { outcome: 'resolved', url, host, isLiteral, addresses: addressVerdict.addresses };
    }
    return { outcome: 'rejected', findings: [addressVerdict.finding] };
  };
}
