import { isIPv4 } from 'node:net';
import { judgeName, withoutTrailingDot } from './host-name.ts';
import { guardAddresses } from './ssrf-guard.ts';
import { breaks, maximumUrlLength, type UrlFinding } from './url-rules.ts';

/** The result of the check of a URL before its host is resolved. A rejection lists all findings. */
export type UrlVerdict =
  | {
      readonly outcome: 'accepted';
      readonly url: URL;
      /** The host without the trailing dot of an absolute name. */
      readonly host: string;
      /** True if the host is an IPv4 address. IPv6 literals are rejected. */
      readonly isLiteral: boolean;
    }
  | { readonly outcome: 'refused'; readonly findings: readonly [UrlFinding, ...UrlFinding[]] };

/**
 * Checks a webhook's URL without resolving its host. All rules apply to the result of the WHATWG parser, which the connection also uses.
 * The parser normalizes other spellings of a host (decimal, octal, full-width, percent-encoded). URLs that the parser would silently
 * repair are rejected. Callers must also check the resolved addresses with `guardAddresses`.
 *
 * @param ownHosts - the service's own host names, which are rejected to prevent delivery loops
 */
export function parseWebhookUrl(text: string, ownHosts: readonly string[]): UrlVerdict {
  // The parser takes quadratic time for host names in other scripts (Punycode, RFC 3492), so long texts are not parsed.
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

function* checkText(text: string): Generator<UrlFinding> {
  if (!text.isWellFormed()) yield breaks('well_formed');
  if (isTooLong(text)) yield breaks('length');
  if (misread.test(text)) yield breaks('characters');
}

function* checkUrl(text: string, url: URL, ownHosts: readonly string[]): Generator<UrlFinding> {
  if (url.protocol !== 'https:') yield breaks('https');
  // Other schemes have other rules for hosts and ports.
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return;
  if (url.username !== '' || url.password !== '' || userinfo.test(text)) yield breaks('userinfo');
  if (url.href.includes('#')) yield breaks('fragment');
  if (!isPortAllowed(url.port)) yield breaks('port');
  const finding = judgeHost(url, ownHosts);
  if (finding) yield finding;
}

/** Characters that the WHATWG parser silently strips, encodes or replaces with slashes, and that other software treats differently. */
const misread = /[\p{Cc}\p{Z}\\]/u;

/** An `@` in the authority, which includes an empty userinfo that the WHATWG parser drops. */
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
