import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What the guard says of a host's addresses: those to connect to, each once, or why the host is refused. */
export type AddressVerdict =
  | { readonly outcome: 'allowed'; readonly addresses: readonly string[] }
  | { readonly outcome: 'refused'; readonly detail: string };

/**
 * Whether an address is global unicast, told by an allow-list: what is not known to be ordinary is refused.
 * That leaves out every special block of the IANA registries (RFC 6890), and in IPv6 also every form that carries an
 * IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP), whatever the address it carries.
 * Takes the textual forms that `net.isIP` takes; anything else is not global unicast.
 */
export function isGlobalUnicast(address: string): boolean {
  // ipaddr.js would also read octal, hexadecimal and short forms; a zone (`%eth0`) only makes sense off the global Internet.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv4') return true;
  const six = parsed as ipaddr.IPv6;
  return six.match(globalUnicastBlock as [ipaddr.IPv6, number]) && !isIsatap(six);
}

/**
 * Judges where a URL leads: pure, and the same at registration and at every attempt. One address that is not global
 * unicast refuses the whole host, since such an answer is a mistake or an attack; and one must be IPv4, because the
 * functions have no other way out. The connection must then go to one of the very addresses given back.
 *
 * @param url - the parsed URL; when its host is an IP literal the literal itself is judged too.
 * @param addresses - every address that its host resolved to.
 */
export function guardAddresses(url: URL, addresses: readonly string[]): AddressVerdict {
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  const judged = isIP(literal) === 0 ? addresses : [literal, ...addresses];
  const bad = judged.find(address => !isGlobalUnicast(address));
  if (bad !== undefined)
    return { outcome: 'refused', detail: `The host leads to ${bad}, which is not a public address.` };
  const reachable = [...new Set(judged.filter(isIPv4))];
  if (reachable.length === 0) return { outcome: 'refused', detail: 'The host has no IPv4 address.' };
  return { outcome: 'allowed', addresses: reachable };
}

/** The only IPv6 block that IANA has handed out as global unicast; everything outside of it is special or reserved. */
const globalUnicastBlock = ipaddr.parseCIDR('2000::/3');

/** Interface identifiers of ISATAP (RFC 5214 section 6.1) carry an IPv4 address behind any prefix: 0000:5efe and 0200:5efe. */
function isIsatap({ parts }: { parts: number[] }): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x0200);
}
