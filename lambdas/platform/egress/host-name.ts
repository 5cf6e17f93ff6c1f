/** A host name in lower case, without the dot that marks it as absolute. */
export function withoutTrailingDot(host: string): string {
  return host.replace(/\.$/, '').toLowerCase();
}

/**
 * Why a DNS name is not public, or `undefined` if it is.
 *
 * @param name - as WHATWG URL parsing leaves it (lower case, Punycode), without trailing dot.
 * @param ownHosts - the service's own host names: a delivery to itself would be a loop.
 */
export function nameProblem(name: string, ownHosts: readonly string[]): string | undefined {
  const labels = name.split('.');
  if (name.length > 253 || !labels.every(part => label.test(part))) return 'The host is not a valid DNS name.';
  if (labels.length === 1) return 'The host is a single label, not a public DNS name.';
  if (privateSuffixes.has(labels.at(-1) ?? '')) return `Names under .${labels.at(-1)} are not public.`;
  if (ownHosts.some(own => withoutTrailingDot(own) === name)) return 'The host is one of this service itself.';
  return undefined;
}

/** Letters, digits and inner hyphens (RFC 1123 section 2.1); underscores too, since some receivers have them. */
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Top-level names that never lead to the public Internet: special-use (RFC 6761, RFC 6762, RFC 7686, RFC 9476, `internal` by
 * ICANN resolution) and those that private networks use in practice. example.com, .net and .org are ordinary names.
 */
const privateSuffixes: ReadonlySet<string> = new Set([
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
