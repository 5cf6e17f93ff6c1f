import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { breaks, type UrlFinding } from './url-rules.ts';

/*
 * The guard against server-side request forgery (SSRF, OWASP A10): a webhook's URL must not reach internal targets, such as the
 * instance metadata service (IMDS, 169.254.169.254), private networks (RFC 1918), loopback and link-local addresses. A name can
 * resolve differently at any time (DNS rebinding). The guard therefore checks addresses, not names, before every connection, and
 * the connection is pinned to an allowed address (`pinned-request.ts`).
 */

/** The verdict on a host: its unique addresses to connect to, or the reason for its rejection. */
export type AddressVerdict =
  | { readonly outcome: 'allowed'; readonly addresses: readonly string[] }
  | { readonly outcome: 'refused'; readonly finding: UrlFinding };

/**
 * Checks the resolved addresses of a host, or the address of an IP literal. Rejects the whole host for a single non-public address,
 * because such a response is a mistake or an attack. At least one must be IPv4, because the functions have no IPv6 route to the
 * Internet.
 */
export function guardAddresses(addresses: readonly string[]): AddressVerdict {
  const forbidden = addresses.find(address => !isPublicAddress(address));
  if (forbidden !== undefined) return { outcome: 'refused', finding: breaks('public_address', { address: forbidden }) };
  const reachable = [...new Set(addresses.filter(isIPv4))];
  if (reachable.length === 0) return { outcome: 'refused', finding: breaks('ipv4') };
  return { outcome: 'allowed', addresses: reachable };
}

/**
 * Returns whether an address is global unicast, by an allow-list. It rejects every special-purpose block of the IANA registries
 * (RFC 6890), and every IPv6 form that embeds an IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP). It
 * accepts only the text forms that `net.isIP` accepts.
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

/** The only IPv6 block that IANA has assigned as global unicast. All other addresses are special or reserved. */
const globalUnicastBlock = ipaddr.parseCIDR('2000::/3');

/** Returns whether an address has an ISATAP interface identifier (RFC 5214 section 6.1), which embeds an IPv4 address after any prefix. */
function isIsatap({ parts }: { parts: number[] }): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x0200);
}
