import { timingSafeEqual } from 'node:crypto';
import type { KeyDerivation } from '../../platform/key-derivation.ts';

/**
 * A password hash from another system. In storage, the prefix `imported` distinguishes it from Emissor's own hashes, which can have the
 * same parameters but are always computed from normalised passwords.
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
 * Parses a hash from another system, without the prefix. Supports argon2id, argon2i and PBKDF2 in the PHC string format
 * (https://github.com/P-H-C/phc-string-format), and bcrypt. Returns `undefined` for other hashes, for malformed hashes, and for hashes that
 * need more work or memory than a login may use.
 */
export function parseImportedHash(text: string): ImportedHash | undefined {
  if (text.length > maxHash) return undefined;
  for (const [pattern, parse] of formats) {
    const match = pattern.exec(text);
    if (match) return parse(match);
  }
  return undefined;
}

/** The maximum length of a hash in characters. Supported hashes are shorter. */
const maxHash = 256;

type Format = readonly [pattern: RegExp, parse: (match: RegExpExecArray) => ImportedHash | undefined];

/** The supported formats. Numbers have no leading zeros (PHC string format, "decimal"). */
const formats: readonly Format[] = [
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
      const saltAndTag = fromBase64(salt, tag);
      const hasExpectedLength = length === undefined || Number(length) === saltAndTag?.tag.length;
      return hasExpectedLength ? parsePbkdf2(digest, iterations, saltAndTag) : undefined;
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
  saltAndTag: SaltAndTag | undefined,
): ImportedHash | undefined {
  const [memory = 0, passes = 0, parallelism = 0] = fields.map(Number);
  const isInRange = memory <= 65_536 && passes * memory <= 262_144 && memory >= 8 * parallelism;
  if (!isInRange || !saltAndTag) return undefined;
  const { salt: nonce, tag } = saltAndTag;
  const isWeak = algorithm === 'argon2i' || passes * memory < 5 * 7_168;
  return derivedKeyHash({ kind: algorithm, isWeak, tag }, (message, { argon2 }) =>
    argon2(algorithm, message, { nonce, memory, passes, parallelism, tagLength: tag.length }),
  );
}

/** Parses the parameters of PBKDF2 (RFC 8018 section 5.2). */
function parsePbkdf2(digest: Field, count: Field, saltAndTag: SaltAndTag | undefined): ImportedHash | undefined {
  const iterations = Number(count);
  if (iterations > 2_000_000 || !saltAndTag) return undefined;
  const { salt, tag } = saltAndTag;
  const [kind, hash, minIterations] =
    digest === 'sha512'
      ? (['PBKDF2-SHA512', 'sha512', 210_000] as const)
      : (['PBKDF2-SHA256', 'sha256', 600_000] as const);
  return derivedKeyHash({ kind, isWeak: iterations < minIterations, tag }, (message, { pbkdf2 }) =>
    pbkdf2(message, salt, iterations, tag.length, hash),
  );
}

function parseBcrypt({ 0: text, 1: cost }: RegExpExecArray): ImportedHash | undefined {
  if (Number(cost) < 4 || Number(cost) > 13) return undefined;
  // Imported on first use, so that other logins do not load the package.
  const matches = async (password: string) => (await import('bcryptjs')).compare(password, text);
  return { kind: 'bcrypt', isWeak: Number(cost) < 10, matches, significantBytes: 72 };
}

/** Returns a hash that compares derived keys in constant time. */
function derivedKeyHash(
  { tag, ...description }: Pick<ImportedHash, 'kind' | 'isWeak'> & Pick<SaltAndTag, 'tag'>,
  derive: (message: Buffer, keyDerivation: KeyDerivation) => Promise<Buffer>,
): ImportedHash {
  async function matches(password: string, keyDerivation: KeyDerivation): Promise<boolean> {
    return timingSafeEqual(await derive(Buffer.from(password, 'utf8'), keyDerivation), tag);
  }
  return { ...description, matches };
}

interface SaltAndTag {
  readonly salt: Buffer;
  readonly tag: Buffer;
}

/** Decodes a salt and a hash. Returns `undefined` if either is not base64 or has an unusual length. */
function fromBase64(saltText: Field, tagText: Field): SaltAndTag | undefined {
  const [salt, tag] = [decodeBase64(saltText), decodeBase64(tagText)];
  const hasUsualLength = (bytes: Buffer | undefined, min: number) => bytes && bytes.length >= min && bytes.length <= 64;
  return salt && tag && hasUsualLength(salt, 8) && hasUsualLength(tag, 16) ? { salt, tag } : undefined;
}

/** Decodes base64 without padding. Returns `undefined` if it is malformed. */
function decodeBase64(text = ''): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64').replaceAll('=', '') === text ? bytes : undefined;
}
