import { type Finding, finding } from '../api/findings.ts';
import { makeResolveDestination } from '../platform/egress/resolve-destination.ts';
import type { Resolve } from '../platform/egress/resolver.ts';
import { parseWebhookUrl } from '../platform/egress/url-policy.ts';
import { type After, withDeadline } from '../platform/timer.ts';
import { urlFinding, webhookFindings } from './findings.ts';

export type UrlValidation = ReturnType<typeof makeUrlValidation>;

/** Creates the URL validation for registrations. It applies the same rules as deliveries. */
export function makeUrlValidation(dependencies: {
  readonly resolve: Resolve;
  readonly ownHosts: readonly string[];
  readonly after: After;
}) {
  const resolveDestination = makeResolveDestination(dependencies);
  return { validateText, validateHost };

  /** Returns the findings that do not require DNS. */
  function validateText(text: string): readonly Finding[] {
    const verdict = parseWebhookUrl(text, dependencies.ownHosts);
    return verdict.outcome === 'rejected' ? verdict.findings.map(urlFinding) : [];
  }

  /**
   * Resolves the host of a URL that `validateText` accepted, and returns the findings on its addresses.
   *
   * @throws {ResolutionError} for an internal error.
   */
  async function validateHost(text: string): Promise<readonly Finding[]> {
    const resolve = (signal: AbortSignal) => resolveDestination(text, signal);
    const destination = await withDeadline(dependencies.after, resolutionTimeoutMs, resolve);
    switch (destination.outcome) {
      case 'resolved':
        return [];
      case 'rejected':
        return destination.findings.map(urlFinding);
      case 'unresolved':
        return [finding({ pointer: '/url' }, webhookFindings[destination.fault])];
    }
  }
}

/** The timeout for resolving a host, in milliseconds. It is short because the request occupies a Lambda execution. */
const resolutionTimeoutMs = 2_000;

/** The DNS timeouts for a registration. If the first query is lost, the response to the second must still arrive in time. */
export const registrationNameServerOptions = { timeout: 500, maxTimeout: 1_000, tries: 3 } as const;
