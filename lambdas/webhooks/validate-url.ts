import type { Finding } from '../api/problem.ts';
import { makeFindDestination } from '../platform/egress/destination.ts';
import type { Resolve } from '../platform/egress/resolver.ts';

/** Judges a URL at registration by what deliveries will be judged by, and gives all findings. */
export type CheckUrl = (text: string) => Promise<readonly Finding[]>;

/** Makes the check over a resolver and the service's own host names. */
export function makeUrlCheck(dependencies: {
  readonly resolve: Resolve;
  readonly ownHosts: readonly string[];
}): CheckUrl {
  const findDestination = makeFindDestination(dependencies);
  return async function urlCheck(text) {
    const destination = await findDestination(text, AbortSignal.timeout(resolutionMs));
    switch (destination.outcome) {
      case 'found':
        return [];
      case 'refused':
        return destination.findings.map(({ code, detail }) => ({ pointer: '/url', code, detail }));
      case 'unresolved':
        return [{ pointer: '/url', code: 'url_not_public', detail: unresolved[destination.fault] }];
    }
  };
}

/** How long a name may take to resolve while somebody waits for the answer, in milliseconds. */
const resolutionMs = 5_000;

const unresolved = {
  not_found: 'The host does not resolve: there is no such name in DNS.',
  temporary: 'The host could not be resolved just now: check its DNS servers, then try again.',
} as const;
