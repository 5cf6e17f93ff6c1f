import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type UrlFinding, violation } from './url-rules.ts';

/*
 * The guard against server-side request forgery (SSRF, OWASP A10). A webhook's URL must not reach internal targets, such as the instance
 * metadata service (IMDS, 169.254.169.254), private networks (RFC 1918), and loopback and link-local addresses. A name can resolve to
 * another address at any time (DNS rebinding). The guard therefore checks addresses instead of names before every connection, and
 * `pinned-request.ts` connects only to an allowed address.
 */

/** The result of a host check. It contains the unique addresses to use, or the reason for the rejection. */
export type AddressVerdict =
  | { readonly outcome: 'allowed'; readonly addresses: readonly string[] }
  | { readonly outcome: 'rejected'; readonly finding: UrlFinding };

/**
 * Checks the resolved addresses of a host, or the address of an IP literal. Rejects the host if any address is not public, because such
 * an address is a mistake or an attack. At least one address must be IPv4, because the functions have no IPv6 route to the Internet.
 */
export function guardAddresses(addresses: readonly string[]): AddressVerdict {
  const forbidden = addresses.find(address => !isPublicAddress(address));
  if (forbidden !== undefined)
    return { outcome: 'rejected', finding: violation('public_address', { address: forbidden }) };
  const reachable = [...new Set(addresses.filter(isIPv4))];
  if (reachable.length === 0) return { outcome: 'rejected', finding: violation('ipv4') };
  return { outcome: 'allowed', addresses: reachable };
}

/**
 * Returns whether an address is global unicast, by an allow list. Rejects every special-purpose block of the IANA registries (RFC 6890).
 * Rejects every IPv6 form that embeds an IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP). Accepts only the text
 * forms that `net.isIP` accepts.
 */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js also parses octal, hexadecimal and short forms. A zone (`%eth0`) has no meaning on the public Internet.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv4') return true;
  const ipv6 = parsed as ipaddr.IPv6;
  return ipv6.match(globalUnicastBlock as [ipaddr.IPv6, number]) && !isIsatap(ipv6);
}

/** The only IPv6 block that IANA has assigned as global unicast. All other addresses are special or reserved. */
const globalUnicastBlock = ipaddr.parseCIDR('2000::/3');

/** Returns whether an address has an ISATAP interface identifier (RFC 5214 section 6.1), which embeds an IPv4 address after any prefix. */
function isIsatap({ parts }: { parts: number[] }): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x0200);
}
