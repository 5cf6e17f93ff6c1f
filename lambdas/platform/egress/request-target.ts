/**
 * Returns the request target of a URL in the syntax of RFC 3986. The WHATWG parser does not escape some characters that strict
 * servers reject, such as `|`, `[` and a `%` without a valid encoding.
 */
export function requestTarget({ pathname, search }: URL): string {
  return `${pathname}${search}`.replace(notInTargets, character => encodeURIComponent(character));
}

/** All characters except `pchar`, `/` and `?` (RFC 3986 sections 3.3 and 3.4). */
const notInTargets = /%(?![\dA-F]{2})|[^\w.~!$&'()*+,;=:@/?%-]/gi;
