import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { breaks, type UrlFinding } from './url-rules.ts';

/*
 * The guard against server-side request forgery (SSRF, OWASP A10): a webhook's URL must not reach what only we can reach,
 * such as the instance metadata service (IMDS, 169.254.169.254), a private network (RFC 1918), loopback or link-local
 * addresses. A name can resolve differently from one moment to the next (DNS rebinding), so the guard judges addresses, not
 * names, before every connection, and the connection is pinned to an address that it has judged (`pinned-request.ts`).
 */

/** The verdict on a host's addresses: those to connect to, each once, or why the host is refused. */
export type AddressVerdict =
  | { readonly outcome: 'allowed'; readonly addresses: readonly string[] }
  | { readonly outcome: 'refused'; readonly finding: UrlFinding };

/**
 * Judges the addresses that a host resolved to, or the one address that an IP literal is. One address that is not public
 * refuses the whole host: such an answer is a mistake or an attack. One must be IPv4, because the functions have no IPv6
 * route to the Internet.
 */
export function guardAddresses(addresses: readonly string[]): AddressVerdict {
  const forbidden = addresses.find(address => !isPublicAddress(address));
  if (forbidden !== undefined) return { outcome: 'refused', finding: breaks('public_address', { address: forbidden }) };
  const reachable = [...new Set(addresses.filter(isIPv4))];
  if (reachable.length === 0) return { outcome: 'refused', finding: breaks('ipv4') };
  return { outcome: 'allowed', addresses: reachable };
}

/**
 * Returns whether an address is global unicast. This is an allow-list: what is not known to be ordinary is refused. It refuses
 * every special-purpose block of the IANA registries (RFC 6890), and in IPv6 also every form that embeds an IPv4 address (mapped,
 * compatible, translated, NAT64, 6to4, Teredo, ISATAP), whatever that address is. It takes the text forms that `net.isIP`
 * takes; any other text is refused.
 */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js also reads octal, hexadecimal and short forms; a zone (`%eth0`) has no meaning on the global Internet.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv4') return true;
  const six = parsed as ipaddr.IPv6;
  return six.match(globalUnicastBlock as [ipaddr.IPv6, number]) && !isIsatap(six);
}

/** The only IPv6 block that IANA has assigned as global unicast; everything outside it is special or reserved. */
const globalUnicastBlock = ipaddr.parseCIDR('2000::/3');

/** ISATAP interface identifiers (RFC 5214 section 6.1) embed an IPv4 address behind any prefix: 0000:5efe and 0200:5efe. */
function isIsatap({ parts }: { parts: number[] }): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x0200);
}
