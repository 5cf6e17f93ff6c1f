import { isIPv4 } from 'node:net';
import { judgeName, withoutTrailingDot } from './host-name.ts';
import { guardAddresses } from './ssrf-guard.ts';
import { breaks, maximumUrlLength, type UrlFinding } from './url-rules.ts';

/** The verdict on a URL before its host is resolved. A refusal lists every finding, at least one. */
export type UrlVerdict =
  | {
      readonly outcome: 'accepted';
      readonly url: URL;
      /** The host without the dot that marks it as absolute. */
      readonly host: string;
      /** True when the host is an IPv4 address instead of a name; IPv6 literals are refused. */
      readonly isLiteral: boolean;
    }
  | { readonly outcome: 'refused'; readonly findings: readonly [UrlFinding, ...UrlFinding[]] };

/**
 * Judges a webhook's URL by everything that can be told without resolving its host. All rules look at the URL as the
 * WHATWG parser reads it, the parser that the connection uses: other spellings of a host (decimal, octal, full-width,
 * percent-encoded) have become the plain one by then. What the parser would silently repair is refused as well.
 * `guardAddresses` must follow with the resolved addresses.
 *
 * @param ownHosts - the service's own host names: a delivery to itself would be a loop.
 */
export function parseWebhookUrl(text: string, ownHosts: readonly string[]): UrlVerdict {
  // The parser takes quadratic time for host names in other scripts (Punycode, RFC 3492), so it never sees a long text.
  const url = isTooLong(text) ? null : URL.parse(text);
  const findings = [...checkText(text), ...(url === null ? [] : checkUrl(text, url, ownHosts))];
  const [first, ...others] = findings;
  if (first !== undefined) return { outcome: 'refused', findings: [first, ...others] };
  if (url !== null) {
    const host = withoutTrailingDot(url.hostname);
    return { outcome: 'accepted', url, host, isLiteral: isIPv4(host) };
  }
  return { outcome: 'refused', findings: [breaks('absolute')] };
}

function isTooLong(text: string): boolean {
  return [...text].length > maximumUrlLength;
}

/** Yields the faults of the text itself. */
function* checkText(text: string): Generator<UrlFinding> {
  if (!text.isWellFormed()) yield breaks('well_formed');
  if (isTooLong(text)) yield breaks('length');
  if (misread.test(text)) yield breaks('characters');
}

/** Yields the faults of the URL that the parser reads. */
function* checkUrl(text: string, url: URL, ownHosts: readonly string[]): Generator<UrlFinding> {
  if (url.protocol !== 'https:') yield breaks('https');
  // Other schemes have other rules for hosts and ports: there is nothing to add.
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return;
  if (url.username !== '' || url.password !== '' || userinfo.test(text)) yield breaks('userinfo');
  if (url.href.includes('#')) yield breaks('fragment');
  if (!isPortAllowed(url.port)) yield breaks('port');
  const finding = judgeHost(url, ownHosts);
  if (finding) yield finding;
}

/** The characters that the WHATWG parser silently strips, encodes or turns into slashes, and other software reads differently. */
const misread = /[\p{Cc}\p{Z}\\]/u;

/** An `@` in the authority, as the WHATWG parser finds it: the parser drops an empty userinfo, which is refused too. */
const userinfo = /^https?:\/*[^\\/?#]*@/i;

function isPortAllowed(port: string): boolean {
  return port === '' || port === '443' || Number(port) >= 1_024;
}

function judgeHost(url: URL, ownHosts: readonly string[]): UrlFinding | undefined {
  const host = withoutTrailingDot(url.hostname);
  if (host.startsWith('[')) return breaks('ipv6_literal');
  if (!isIPv4(host)) return judgeName(host, ownHosts);
  if (ownHosts.includes(host)) return breaks('own_host');
  const verdict = guardAddresses([host]);
  return verdict.outcome === 'refused' ? verdict.finding : undefined;
}
