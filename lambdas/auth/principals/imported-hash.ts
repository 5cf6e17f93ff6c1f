import { timingSafeEqual } from 'node:crypto';
import type { KeyDerivation } from '../../platform/key-derivation.ts';

/**
 * A password hash of another system. It is stored with the prefix `imported`, because Emissor's own hashes can have the same parameters.
 * Only Emissor's own hashes are always of normalised passwords.
 */
export interface ImportedHash {
  /** The display name, such as `bcrypt`. */
  readonly kind: string;
  /** True if a guess takes less work than OWASP's Password Storage Cheat Sheet requires for this kind. */
  readonly isWeak: boolean;
  /** The number of significant bytes of a password, if the kind limits it. */
  readonly significantBytes?: number;
  /** Returns whether a password matches the hash. */
  readonly matches: (password: string, keyDerivation: KeyDerivation) => Promise<boolean>;
}

/** The prefix of stored imported hashes. */
export const importedPrefix = 'imported';

/**
 * Parses a hash of another system, without the prefix. It supports argon2id, argon2i and PBKDF2 in the PHC string format
 * (https://github.com/P-H-C/phc-string-format), and bcrypt. Returns `undefined` for other hashes, for malformed hashes, and for hashes that
 * need more work or memory than a login may use.
 */
export function parseImportedHash(text: string): ImportedHash | undefined {
  if (text.length > maxHash) return undefined;
  for (const [form, parse] of forms) {
    const match = form.exec(text);
    if (match) return parse(match);
  }
  return undefined;
}

/** The maximum length of a hash in characters. Supported hashes are shorter. */
const maxHash = 256;

type Form = readonly [form: RegExp, parse: (match: RegExpExecArray) => ImportedHash | undefined];

/** The supported formats. Numbers have no leading zeros (PHC string format, "decimal"). */
const forms: readonly Form[] = [
  [
    /^\$(argon2id?)\$v=19\$m=([1-9]\d{0,4}),t=([1-9]\d{0,4}),p=([1-4])\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/,
    ([, algorithm, memory, passes, parallelism, salt, tag]) =>
      parseArgon2(
        algorithm === 'argon2i' ? algorithm : 'argon2id',
        [memory, passes, parallelism],
        fromBase64(salt, tag),
      ),
  ],
  [
    /^\$pbkdf2-(sha256|sha512)\$i=([1-9]\d{0,6})(?:,l=([1-9]\d?))?\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/,
    ([, digest, iterations, length, salt, tag]) => {
      const stored = fromBase64(salt, tag);
      const isOfLength = length === undefined || Number(length) === stored?.tag.length;
      return isOfLength ? parsePbkdf2(digest, iterations, stored) : undefined;
    },
  ],
  // The last characters of the encoded salt and hash have unused bits, which every bcrypt implementation sets to zero.
  [/^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/, parseBcrypt],
];

type Field = string | undefined;

/** Parses the parameters of Argon2, with at least 8 KiB per lane (RFC 9106 section 3.1). */
function parseArgon2(
  algorithm: 'argon2i' | 'argon2id',
  fields: readonly Field[],
  stored: Stored | undefined,
): ImportedHash | undefined {
  const [memory = 0, passes = 0, parallelism = 0] = fields.map(Number);
  const isInRange = memory <= 65_536 && passes * memory <= 262_144 && memory >= 8 * parallelism;
  if (!isInRange || !stored) return undefined;
  const { salt: nonce, tag } = stored;
  const isWeak = algorithm === 'argon2i' || passes * memory < 5 * 7_168;
  return derived({ kind: algorithm, isWeak, tag }, (message, { argon2 }) =>
    argon2(algorithm, message, { nonce, memory, passes, parallelism, tagLength: tag.length }),
  );
}

/** Parses the parameters of PBKDF2 (RFC 8018 section 5.2). */
function parsePbkdf2(digest: Field, count: Field, stored: Stored | undefined): ImportedHash | undefined {
  const iterations = Number(count);
  if (iterations > 2_000_000 || !stored) return undefined;
  const { salt, tag } = stored;
  const [kind, hash, minIterations] =
    digest === 'sha512'
      ? (['PBKDF2-SHA512', 'sha512', 210_000] as const)
      : (['PBKDF2-SHA256', 'sha256', 600_000] as const);
  return derived({ kind, isWeak: iterations < minIterations, tag }, (message, { pbkdf2 }) =>
    pbkdf2(message, salt, iterations, tag.length, hash),
  );
}

function parseBcrypt({ 0: text, 1: cost }: RegExpExecArray): ImportedHash | undefined {
  if (Number(cost) < 4 || Number(cost) > 13) return undefined;
  // Imported on first use, because other logins need not wait for it.
  const matches = async (password: string) => (await import('bcryptjs')).compare(password, text);
  return { kind: 'bcrypt', isWeak: Number(cost) < 10, matches, significantBytes: 72 };
}

/** Returns a hash that compares derived keys in constant time. */
function derived(
  { tag, ...described }: Pick<ImportedHash, 'kind' | 'isWeak'> & Pick<Stored, 'tag'>,
  derive: (message: Buffer, keyDerivation: KeyDerivation) => Promise<Buffer>,
): ImportedHash {
  async function matches(password: string, keyDerivation: KeyDerivation): Promise<boolean> {
    return timingSafeEqual(await derive(Buffer.from(password, 'utf8'), keyDerivation), tag);
  }
  return { ...described, matches };
}

interface Stored {
  readonly salt: Buffer;
  readonly tag: Buffer;
}

/** Decodes salt and hash. Returns `undefined` if one is not base64 or has an unusual length. */
function fromBase64(saltText: Field, tagText: Field): Stored | undefined {
  const [salt, tag] = [decodeBase64(saltText), decodeBase64(tagText)];
  const hasUsualLength = (bytes: Buffer | undefined, min: number) => bytes && bytes.length >= min && bytes.length <= 64;
  return salt && tag && hasUsualLength(salt, 8) && hasUsualLength(tag, 16) ? { salt, tag } : undefined;
}

/** Decodes base64 without padding. Returns `undefined` if it is malformed. */
function decodeBase64(text = ''): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64').replaceAll('=', '') === text ? bytes : undefined;
}
