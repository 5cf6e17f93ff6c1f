import { timingSafeEqual } from 'node:crypto';
import type { KeyDerivation } from '../../platform/key-derivation.ts';
import type { Random } from '../../platform/random.ts';
import { importedPrefix, parseImportedHash } from './imported-hash.ts';

/** Creates Argon2id password hashing that uses the parameters `cost` for new hashes. */
export function makePasswordHashing(
  { keyDerivation, random: { bytes } }: HashingParts,
  cost: HashParameters = currentParameters,
): PasswordHashing {
  return {
    hash: async function hashPassword(password) {
      const salt = bytes(saltLength);
      return format({ ...cost, salt, tag: await derive(keyDerivation, password, { ...cost, salt, tagLength }) });
    },
    verify: (password, stored) => verifyPassword(keyDerivation, password, stored),
    needsRehash: function needsRehash(stored, password) {
      if (stored.startsWith(importedPrefix)) {
        const { significantBytes = Number.POSITIVE_INFINITY } =
          parseImportedHash(stored.slice(importedPrefix.length)) ?? {};
        return Buffer.byteLength(password) <= significantBytes;
      }
      const { memory, passes, parallelism, salt, tag } = parse(stored);
      return (
        memory !== cost.memory ||
        passes !== cost.passes ||
        parallelism !== cost.parallelism ||
        salt.length !== saltLength ||
        tag.length !== tagLength
      );
    },
    dummy: format({ ...cost, salt: bytes(saltLength), tag: bytes(tagLength) }),
  };
}

/**
 * Returns whether a password matches a stored hash. Computes one hash with the stored parameters. For an imported hash,
 * tries the password as entered and then, if different, its NFC form.
 */
async function verifyPassword(keyDerivation: KeyDerivation, password: string, stored: string): Promise<boolean> {
  if (stored.startsWith(importedPrefix)) {
    return verifyImported(keyDerivation, password, stored.slice(importedPrefix.length));
  }
  const { tag, ...cost } = parse(stored);
  return timingSafeEqual(await derive(keyDerivation, password, { ...cost, tagLength: tag.length }), tag);
}

/**
 * Checks that this runtime supports Argon2id, which depends on the OpenSSL version of its Node.js.
 *
 * @throws {Error} if the runtime does not support Argon2id.
 */
export async function assertHashing({ verify }: Pick<PasswordHashing, 'verify'>): Promise<void> {
  const isSupported = await verify('password', referenceHash).catch(() => false);
  if (!isSupported) throw new Error('This runtime does not support Argon2id. Use a Node.js with OpenSSL 3.2 or later.');
}

export interface PasswordHashing {
  /** Hashes a password for storage, as a PHC string. */
  readonly hash: (password: string) => Promise<string>;
  readonly verify: (password: string, stored: string) => Promise<boolean>;
  /**
   * Returns whether to replace the stored hash of a matching password. A hash that ignores part of the password is not replaced, because
   * the user may have mistyped that part. The correct password would then no longer match.
   */
  readonly needsRehash: (stored: string, password: string) => boolean;
  /** A hash that no password matches. Verifying it for unknown users prevents user enumeration by timing. */
  readonly dummy: string;
}

/** The cost parameters of a hash. */
export interface HashParameters {
  /** The memory in KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

async function verifyImported(keyDerivation: KeyDerivation, password: string, text: string): Promise<boolean> {
  const hash = parseImportedHash(text);
  if (!hash) throw new Error('The imported password hash has an unsupported format.');
  if (await hash.matches(password, keyDerivation)) return true;
  const normalised = password.normalize('NFC');
  return normalised !== password && (await hash.matches(normalised, keyDerivation));
}

const saltLength = 16;
const tagLength = 32;

const phcString =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{22,86})$/;

/** A hash of `password` by the reference implementation: https://github.com/P-H-C/phc-winner-argon2#command-line-utility */
const referenceHash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';

/** The parameters of new hashes. After a change, each user's next login replaces the hash. */
const currentParameters: HashParameters = { memory: 19_456, passes: 2, parallelism: 1 };

/** Formats a PHC string. The string contains the parameters, so old hashes remain valid after a change. */
function format({ memory, passes, parallelism, salt, tag }: StoredHash): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}

/** Computes Argon2id, version 0x13 (RFC 9106). */
function derive(
  { argon2 }: KeyDerivation,
  password: string,
  { salt: nonce, ...cost }: HashParameters & { readonly salt: Buffer; readonly tagLength: number },
): Promise<Buffer> {
  const message = Buffer.from(password.normalize('NFC'), 'utf8'); // some keyboards produce é, others e and a combining accent
  return argon2('argon2id', message, { nonce, ...cost });
}

interface HashingParts {
  readonly keyDerivation: KeyDerivation;
  readonly random: Pick<Random, 'bytes'>;
}

interface StoredHash extends HashParameters {
  readonly salt: Buffer;
  readonly tag: Buffer;
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

function parse(stored: string): StoredHash {
  const [, memory, passes, parallelism, salt, tag] = phcString.exec(stored) ?? [];
  if (salt === undefined || tag === undefined) throw new Error('The password hash is not an Argon2id PHC string.');
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}
