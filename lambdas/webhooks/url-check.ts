import { guardAddresses } from '../platform/egress/address-guard.ts';
import { withoutTrailingDot } from '../platform/egress/host-name.ts';
import { ResolutionError, type Resolve } from '../platform/egress/resolver.ts';
import { parseWebhookUrl } from '../platform/egress/url-policy.ts';
import type { Finding } from './problem.ts';

/** How long a name may take to resolve while somebody waits for the answer, in milliseconds. */
const resolutionMs = 5_000;

const notPublic = (detail: string): Finding => ({ pointer: '/url', code: 'url_not_public', detail });

/** Judges a URL at registration by what deliveries will be judged by, and gives all findings. */
export type CheckUrl = (text: string) => Promise<readonly Finding[]>;

/** Makes the check over a resolver and the service's own host names. */
export const makeUrlCheck =
  ({ resolve, ownHosts }: { readonly resolve: Resolve; readonly ownHosts: readonly string[] }): CheckUrl =>
  async text => {
    const verdict = parseWebhookUrl(text, ownHosts);
    if (verdict.outcome === 'refused') {
      return verdict.findings.map(({ code, detail }) => ({ pointer: '/url', code, detail }));
    }
    const { url } = verdict;
    if (guardAddresses(url, []).outcome === 'allowed') return []; // a public address, named literally
    try {
      const addresses = await resolve(withoutTrailingDot(url.hostname), AbortSignal.timeout(resolutionMs));
      const guarded = guardAddresses(url, addresses);
      return guarded.outcome === 'refused' ? [notPublic(guarded.detail)] : [];
    } catch (error) {
      if (!(error instanceof ResolutionError) || error.fault === 'own_fault') throw error;
      if (error.fault === 'not_found') return [notPublic('The host does not resolve: there is no such name in DNS.')];
      return [notPublic('The host could not be resolved just now: check its DNS servers, then try again.')];
    }
  };
