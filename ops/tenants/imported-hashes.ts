/** The descriptions of hashes that can be imported. */
export const importedKinds: readonly string[] = [
  'argon2id or argon2i ($argon2id$v=19$m=…,t=…,p=…; m up to 65536, t times m up to 262144, p up to 4)',
  'PBKDF2 ($pbkdf2-sha256$i=…, $pbkdf2-sha256$29000$… of passlib, pbkdf2_sha256$… of Django; SHA-256 or -512; up to 2000000)',
  'bcrypt ($2a$, $2b$ or $2y$; cost 4 to 13)',
];

/** Returns a PBKDF2 hash of passlib or Django in the PHC string format, and any other text unchanged. */
export function convertHash(text: string): string {
  return convertPasslib(text) ?? convertDjango(text) ?? text;
}

/** Returns whether a text is a scrypt hash in any notation. */
export function isScrypt(text: string): boolean {
  return /^\$?scrypt[$:]/.test(text);
}

/** Converts a passlib hash, which has "." instead of "+": https://passlib.readthedocs.io/en/stable/lib/passlib.utils.binary.html#passlib.utils.binary.ab64_encode */
function convertPasslib(text: string): string | undefined {
  const form = /^\$pbkdf2-(sha256|sha512)\$(\d+)\$([A-Za-z0-9./]+)\$([A-Za-z0-9./]+)$/;
  const [, digest, iterations, salt = '', tag = ''] = form.exec(text) ?? [];
  if (digest === undefined) return undefined;
  return `$pbkdf2-${digest}$i=${iterations}$${salt.replaceAll('.', '+')}$${tag.replaceAll('.', '+')}`;
}

/** Encodes the salt, which is text in Django: https://docs.djangoproject.com/en/stable/topics/auth/passwords/ */
function convertDjango(text: string): string | undefined {
  const form = /^pbkdf2_(sha256|sha512)\$(\d+)\$([!-#%-~]+)\$([A-Za-z0-9+/]+={0,2})$/;
  const [, digest, iterations, salt = '', tag = ''] = form.exec(text) ?? [];
  if (digest === undefined || tag.length % 4 !== 0) return undefined;
  return `$pbkdf2-${digest}$i=${iterations}$${withoutPadding(btoa(salt))}$${withoutPadding(tag)}`;
}

function withoutPadding(base64: string): string {
  return base64.replaceAll('=', '');
}
