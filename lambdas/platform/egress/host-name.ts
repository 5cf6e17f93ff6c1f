import { type UrlFinding, violation } from './url-rules.ts';

/**
 * The top-level names that never resolve on the public Internet. They are special-use names (RFC 6761, RFC 6762, RFC 7686, RFC 9476,
 * `internal` by ICANN resolution) and names that private networks use in practice. example.com, .net and .org are ordinary names.
 */
export const privateSuffixes: ReadonlySet<string> = new Set([
  'localhost',
  'local',
  'internal',
  'test',
  'invalid',
  'example',
  'onion',
  'alt',
  'arpa',
  'lan',
  'home',
  'corp',
  'intranet',
  'localdomain',
]);

/** Returns a host name in lower case, without the dot that marks it as absolute. */
export function withoutTrailingDot(host: string): string {
  return host.replace(/\.$/, '').toLowerCase();
}

/**
 * Returns the reason why a DNS name is not public, or `undefined` if it is public.
 *
 * @param name - in the form that the WHATWG URL parser returns (lower case, Punycode), without a trailing dot
 * @param ownHosts - the service's own host names, which are rejected to prevent delivery loops
 */
export function checkName(name: string, ownHosts: readonly string[]): UrlFinding | undefined {
  const labels = name.split('.');
  if (name.length > 253 || !labels.every(part => label.test(part))) return violation('dns_name');
  if (labels.length === 1) return violation('single_label');
  const suffix = labels.at(-1) ?? '';
  if (privateSuffixes.has(suffix)) return violation('private_suffix', { suffix });
  if (ownHosts.some(own => withoutTrailingDot(own) === name)) return violation('own_host');
  return undefined;
}

/** Letters, digits and inner hyphens (RFC 1123 section 2.1), and the underscores that some receivers use. */
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
