import { isIPv4 } from 'node:net';
import { nameProblem, withoutTrailingDot } from './host-name.ts';
import { guardAddresses } from './ssrf-guard.ts';

/** One broken rule; `detail` is for the person who registered the URL. */
export interface UrlFinding {
  readonly code: UrlFindingCode;
  readonly detail: string;
}

/** The verdict on a URL before its host is resolved. A refusal gives every finding, at least one. */
export type UrlVerdict =
  | {
      readonly outcome: 'accepted';
      readonly url: URL;
      /** The host without the dot that marks it as absolute. */
      readonly host: string;
      /** Whether the host is an IPv4 address instead of a name; IPv6 literals are refused. */
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
  return { outcome: 'refused', findings: [{ code: 'url_invalid', detail: 'This is not an absolute URL.' }] };
}

/** Which rule of the policy a URL breaks: its scheme, where it leads, or its form. */
type UrlFindingCode = 'url_not_https' | 'url_not_public' | 'url_invalid';

function isTooLong(text: string): boolean {
  return [...text].length > maximumUrlLength;
}

/** What is wrong with the text itself. */
function* checkText(text: string): Generator<UrlFinding> {
  if (!text.isWellFormed()) yield { code: 'url_invalid', detail: 'The URL is not well-formed Unicode.' };
  if (isTooLong(text)) {
    yield { code: 'url_invalid', detail: `The URL has more than ${maximumUrlLength} characters.` };
  }
  if (misread.test(text)) {
    yield { code: 'url_invalid', detail: 'The URL must not hold control characters, spaces or backslashes.' };
  }
}

/** What is wrong with the URL that the parser reads. */
function* checkUrl(text: string, url: URL, ownHosts: readonly string[]): Generator<UrlFinding> {
  if (url.protocol !== 'https:') yield { code: 'url_not_https', detail: 'The URL must begin with https:.' };
  // Other schemes have other rules for hosts and ports: there is nothing to add.
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return;
  if (url.username !== '' || url.password !== '' || userinfo.test(text)) {
    yield { code: 'url_invalid', detail: 'The URL must not carry a user name or password: use autorizacao.' };
  }
  if (url.href.includes('#')) yield { code: 'url_invalid', detail: 'The URL must not have a fragment.' };
  if (!isPortAllowed(url.port)) yield { code: 'url_invalid', detail: 'The port must be 443 or one from 1024 up.' };
  const problem = hostProblem(url, ownHosts);
  if (problem !== undefined) yield { code: 'url_not_public', detail: problem };
}

/** The most characters that a webhook's URL may have. */
const maximumUrlLength = 2_048;

/** What the WHATWG parser silently strips, encodes or turns into slashes, and other software reads differently. */
const misread = /[\p{Cc}\p{Z}\\]/u;

/** An `@` in the authority, as the WHATWG parser finds it: the parser drops an empty userinfo, which is refused too. */
const userinfo = /^https?:\/*[^\\/?#]*@/i;

function isPortAllowed(port: string): boolean {
  return port === '' || port === '443' || Number(port) >= 1_024;
}

function hostProblem(url: URL, ownHosts: readonly string[]): string | undefined {
  const host = withoutTrailingDot(url.hostname);
  if (host.startsWith('[')) return 'IPv6 literals are not accepted: register a DNS name.';
  if (!isIPv4(host)) return nameProblem(host, ownHosts);
  if (ownHosts.includes(host)) return 'The host is one of this service itself.';
  const verdict = guardAddresses([host]);
  return verdict.outcome === 'refused' ? verdict.detail : undefined;
}
