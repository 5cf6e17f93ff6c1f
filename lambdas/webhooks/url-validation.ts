import { type Finding, finding } from '../api/findings.ts';
import { makeResolveDestination } from '../platform/egress/resolve-destination.ts';
import type { Resolve } from '../platform/egress/resolver.ts';
import { parseWebhookUrl } from '../platform/egress/url-policy.ts';
import { type After, withDeadline } from '../platform/timer.ts';
import { urlFinding, webhookFindings } from './findings.ts';

export type UrlValidation = ReturnType<typeof makeUrlValidation>;

/**
 * Creates the validation of a URL at registration, by the rules that deliveries obey.
 *
 * @param dependencies - `ownHosts`: the service's own host names, which are never delivered to.
 */
export function makeUrlValidation(dependencies: {
  readonly resolve: Resolve;
  readonly ownHosts: readonly string[];
  readonly after: After;
}) {
  const resolveDestination = makeResolveDestination(dependencies);
  return { validateText, validateHost };

  /** Returns all findings that need no DNS. */
  function validateText(text: string): readonly Finding[] {
    const verdict = parseWebhookUrl(text, dependencies.ownHosts);
    return verdict.outcome === 'refused' ? verdict.findings.map(urlFinding) : [];
  }

  /**
   * Resolves the host of a URL whose text is right, and returns the findings about its addresses.
   *
   * @throws {ResolutionError} for a failure of our own.
   */
  async function validateHost(text: string): Promise<readonly Finding[]> {
    const destination = await withDeadline(dependencies.after, resolutionTimeoutMs, signal =>
      resolveDestination(text, signal),
    );
    switch (destination.outcome) {
      case 'resolved':
        return [];
      case 'refused':
        return destination.findings.map(urlFinding);
      case 'unresolved':
        return [finding({ pointer: '/url' }, webhookFindings[destination.fault])];
    }
  }
}

/** The time that a host may take to resolve, in milliseconds: a request that waits for it holds an execution. */
const resolutionTimeoutMs = 2_000;

/** The waits of a registration's DNS queries: the second query must be answered in time if the first is lost. */
export const registrationNameServerOptions = { timeout: 500, maxTimeout: 1_000, tries: 3 } as const;
