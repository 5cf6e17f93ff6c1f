/**
 * Returns the request target of a URL, as RFC 3986 defines it. The WHATWG parser keeps some characters that strict servers refuse,
 * such as `|`, `[` and a `%` that encodes nothing.
 */
export function requestTarget({ pathname, search }: URL): string {
  return `${pathname}${search}`.replace(notInTargets, character => encodeURIComponent(character));
}

/** All but `pchar`, `/` and `?` (RFC 3986 sections 3.3 and 3.4). */
const notInTargets = /%(?![\dA-F]{2})|[^\w.~!$&'()*+,;=:@/?%-]/gi;
