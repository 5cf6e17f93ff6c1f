import { maxEmailBytes, normaliseBoundedEmail } from '../../lambdas/auth/principals/user.ts';

/** Returns an e-mail address in its stored form, or its problem, which quotes at most one invisible character. */
export function parseEmailAddress(value: string): { readonly email?: string; readonly problem?: string } {
  const email = normaliseBoundedEmail(value);
  const [invisible] = /\p{Cf}/u.exec(email ?? '') ?? [];
  if (invisible !== undefined) return { problem: `contains the invisible character ${codePoint(invisible)}` };
  const [, domain] = /^[^\s\p{Cc}\p{Cs}@]+@([^\s\p{Cc}\p{Cs}@]+)$/u.exec(email ?? '') ?? [];
  if (email === undefined || domain === undefined) return { problem: emailRule };
  if (!domain.includes('.')) return { problem: 'has a domain without a dot' };
  return isDomain(domain) ? { email } : { problem: 'has a domain that is not a valid domain name' };
}

/** The rule that a value breaks if it is not an e-mail address. */
export const emailRule = `must be an e-mail address of at most ${maxEmailBytes} bytes`;

/** Returns whether the name ends in a top-level domain and is not an IP address. */
function isDomain(text: string): boolean {
  return /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?$/.test(text);
}

function codePoint(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
}
