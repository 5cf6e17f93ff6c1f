import { type Finding, finding } from '../api/findings.ts';
import { makeResolveDestination } from '../platform/egress/resolve-destination.ts';
import { ResolutionError, type Resolve } from '../platform/egress/resolver.ts';
import { type After, withDeadline } from '../platform/timer.ts';
import { urlFinding, webhookFindings } from './findings.ts';

/**
 * Validates a URL at registration by the rules that deliveries obey, and returns all findings.
 *
 * @throws {ResolutionError} where our own side failed.
 */
export type ValidateUrl = (text: string) => Promise<readonly Finding[]>;

/**
 * Makes the validation.
 *
 * @param dependencies - `ownHosts`: the service's own host names, which are never delivered to.
 */
export function makeValidateUrl(dependencies: {
  readonly resolve: Resolve;
  readonly ownHosts: readonly string[];
  readonly after: After;
}): ValidateUrl {
  const resolveDestination = makeResolveDestination(dependencies);
  return async function validateUrl(text) {
    const destination = await withDeadline(dependencies.after, resolutionTimeoutMs, signal =>
      resolveDestination(text, signal),
    );
    switch (destination.outcome) {
      case 'resolved':
        return [];
      case 'refused':
        return destination.findings.map(urlFinding);
      case 'unresolved':
        if (destination.fault === 'not_asked') throw new ResolutionError(destination.fault, destination.detail);
        return [finding({ pointer: '/url' }, webhookFindings[destination.fault])];
    }
  };
}

/** The time that a host may take to resolve while the client waits for the answer, in milliseconds. */
const resolutionTimeoutMs = 5_000;
