import { isIPv4 } from 'node:net';
import { findNameFault, withoutTrailingDot } from './host-name.ts';
import { guardAddresses } from './ssrf-guard.ts';

/** One broken rule; `detail` is for the person who registered the URL. */
export interface UrlFinding {
  readonly code: UrlFindingCode;
  readonly detail: string;
}

/** What the policy says of a URL before any name is resolved. Refusals give every finding, at least one. */
export type UrlVerdict =
  | { readonly outcome: 'accepted'; readonly url: URL }
  | { readonly outcome: 'refused'; readonly findings: readonly [UrlFinding, ...UrlFinding[]] };

/**
 * Judges a webhook's URL by everything that can be told without resolving its name. All rules look at the URL as the
 * WHATWG parser reads it, the parser that the connection uses: other spellings of a host (decimal, octal, full-width,
 * percent-encoded) have become the plain one by then. What the parser would mend in silence is refused as well.
 * `guardAddresses` must follow, with the resolved addresses.
 *
 * @param ownHosts - the service's own host names.
 */
export function parseWebhookUrl(text: string, ownHosts: readonly string[]): UrlVerdict {
  // The parser takes quadratic time for host names in other scripts (Punycode, RFC 3492): what is too long it never sees.
  const url = isTooLong(text) ? null : URL.parse(text);
  const findings = [...findTextFaults(text), ...(url === null ? [] : findFaults(text, url, ownHosts))];
  const [first, ...others] = findings;
  if (first !== undefined) return { outcome: 'refused', findings: [first, ...others] };
  if (url !== null) return { outcome: 'accepted', url };
  return { outcome: 'refused', findings: [{ code: 'url_invalid', detail: 'This is not an absolute URL.' }] };
}

/** Which rule of the policy a URL breaks: its scheme, where it leads, or its form. */
type UrlFindingCode = 'url_not_https' | 'url_not_public' | 'url_invalid';

function isTooLong(text: string): boolean {
  return [...text].length > maximumUrlLength;
}

/** The faults of the text itself. */
function* findTextFaults(text: string): Generator<UrlFinding> {
  if (!text.isWellFormed()) yield { code: 'url_invalid', detail: 'The URL is not well-formed Unicode.' };
  if (isTooLong(text)) {
    yield { code: 'url_invalid', detail: `The URL has more than ${maximumUrlLength} characters.` };
  }
  if (misread.test(text)) {
    yield { code: 'url_invalid', detail: 'The URL must not hold control characters, spaces or backslashes.' };
  }
}

/** The faults of what the parser reads. */
function* findFaults(text: string, url: URL, ownHosts: readonly string[]): Generator<UrlFinding> {
  if (url.protocol !== 'https:') yield { code: 'url_not_https', detail: 'The URL must begin with https:.' };
  // Other schemes have hosts and ports of their own rules: there is nothing to add.
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return;
  if (url.username !== '' || url.password !== '' || userinfo.test(text)) {
    yield { code: 'url_invalid', detail: 'The URL must not carry a user name or password: use autorizacao.' };
  }
  if (url.href.includes('#')) yield { code: 'url_invalid', detail: 'The URL must not have a fragment.' };
  if (!isPortAllowed(url.port)) yield { code: 'url_invalid', detail: 'The port must be 443 or one from 1024 up.' };
  const hostFault = findHostFault(url, ownHosts);
  if (hostFault !== undefined) yield { code: 'url_not_public', detail: hostFault };
}

/** The most characters that a webhook's URL may have. */
const maximumUrlLength = 2_048;

/** What the WHATWG parser strips, encodes or turns into slashes without a word, and other software reads otherwise. */
const misread = /[\p{Cc}\p{Z}\\]/u;

/** An `@` in the authority, as the WHATWG parser finds it: it drops an empty userinfo, which we still refuse. */
const userinfo = /^https?:\/*[^\\/?#]*@/i;

function isPortAllowed(port: string): boolean {
  return port === '' || port === '443' || Number(port) >= 1_024;
}

function findHostFault(url: URL, ownHosts: readonly string[]): string | undefined {
  const host = withoutTrailingDot(url.hostname);
  if (host.startsWith('[')) return 'IPv6 literals are not accepted: register a DNS name.';
  if (!isIPv4(host)) return findNameFault(host, ownHosts);
  if (ownHosts.includes(host)) return 'The host is one of this service itself.';
  const verdict = guardAddresses(url, []);
  return verdict.outcome === 'refused' ? verdict.detail : undefined;
}
