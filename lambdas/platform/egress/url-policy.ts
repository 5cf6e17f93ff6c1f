import { isIPv4 } from 'node:net';
import { checkName, withoutTrailingDot } from './host-name.ts';
import { guardAddresses } from './ssrf-guard.ts';
import { maximumUrlLength, type UrlFinding, violation } from './url-rules.ts';

/** The result of a URL check before the host is resolved. A rejection lists all findings. */
export type UrlVerdict =
  | {
      readonly outcome: 'accepted';
      readonly url: URL;
      /** The host without the trailing dot of an absolute name. */
      readonly host: string;
      /** True if the host is an IPv4 address. IPv6 literals are rejected. */
      readonly isLiteral: boolean;
    }
  | { readonly outcome: 'rejected'; readonly findings: readonly [UrlFinding, ...UrlFinding[]] };

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
  if (first !== undefined) return { outcome: 'rejected', findings: [first, ...others] };
  if (url !== null) {
    const host = withoutTrailingDot(url.hostname);
    return { outcome: 'accepted', url, host, isLiteral: isIPv4(host) };
  }
  return { outcome: 'rejected', findings: [violation('absolute')] };
}

function isTooLong(text: string): boolean {
  return [...text].length > maximumUrlLength;
}

function* checkText(text: string): Generator<UrlFinding> {
  if (!text.isWellFormed()) yield violation('well_formed');
  if (isTooLong(text)) yield violation('length');
  if (ambiguousCharacters.test(text)) yield violation('characters');
}

function* checkUrl(text: string, url: URL, ownHosts: readonly string[]): Generator<UrlFinding> {
  if (url.protocol !== 'https:') yield violation('https');
  // Other schemes have other rules for hosts and ports.
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return;
  if (url.username !== '' || url.password !== '' || userinfo.test(text)) yield violation('userinfo');
  if (url.href.includes('#')) yield violation('fragment');
  if (!isPortAllowed(url.port)) yield violation('port');
  const finding = checkHost(url, ownHosts);
  if (finding) yield finding;
}

/** Characters that the WHATWG parser silently strips, encodes or replaces with slashes, and that other software treats differently. */
const ambiguousCharacters = /[\p{Cc}\p{Z}\\]/u;

/** An `@` in the authority, which includes an empty userinfo that the WHATWG parser drops. */
const userinfo = /^https?:\/*[^\\/?#]*@/i;

function isPortAllowed(port: string): boolean {
  return port === '' || port === '443' || Number(port) >= 1_024;
}

function checkHost(url: URL, ownHosts: readonly string[]): UrlFinding | undefined {
  const host = withoutTrailingDot(url.hostname);
  if (host.startsWith('[')) return violation('ipv6_literal');
  if (!isIPv4(host)) return checkName(host, ownHosts);
  if (ownHosts.includes(host)) return violation('own_host');
  const verdict = guardAddresses([host]);
  return verdict.outcome === 'rejected' ? verdict.finding : undefined;
}
