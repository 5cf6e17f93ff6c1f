import { domainToASCII } from 'node:url';
import { normaliseEmail } from '../../lambdas/auth/principals/user.ts';

/** Returns an e-mail address in its stored form; `undefined` where it is none. The part before the `@` is not checked. */
export function parseEmailAddress(value: string): string | undefined {
  const email = normaliseEmail(value);
  if (Buffer.byteLength(email) > longestEmail) return undefined;
  const [, domain = ''] = /^[^\s\p{Cc}@]+@([^\s@]+)$/u.exec(email) ?? [];
  return isDomain(domain) ? email : undefined;
}

/** The token endpoint refuses longer user names (RFC 5321 section 4.5.3.1.3 leaves 254 for an address). In bytes. */
export const longestEmail = 254;

function isDomain(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(domainToASCII(text));
}
