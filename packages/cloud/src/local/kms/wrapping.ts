import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { keyArn } from '../assembly/identities.ts';
import { codeOf, StartError } from '../errors.ts';

/** Encryption under KMS keys, which never leave the service. */
export interface Wrapping {
  wrap(keyId: string, plaintext: Uint8Array, context: EncryptionContext): Buffer;
  /** `undefined` when the ciphertext was altered, or made under another context or another master key. */
  unwrap(ciphertext: Uint8Array, context: EncryptionContext): Unwrapped | undefined;
}

/**
 * The secret from which all KMS keys are derived; kept in a file of mode 0600 where state is to survive.
 *
 * @throws {StartError} when the kept file is not a key: everything encrypted under it would be lost silently.
 */
export function masterKey(file?: string): Buffer {
  if (file === undefined) return randomBytes(masterKeyLength);
  try {
    const kept = readFileSync(file);
    if (kept.length === masterKeyLength) return kept;
    throw new StartError(`${file} is damaged: the data kept beside it cannot be decrypted`, 'data-damaged');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const fresh = randomBytes(masterKeyLength);
    writeFileSync(file, fresh, { mode: 0o600, flag: 'wx' });
    return fresh;
  }
}

/**
 * AES-256-GCM under a key derived per key id from the master key, with the encryption context as associated data.
 * A ciphertext is `version ‖ length of key id ‖ key id ‖ nonce ‖ tag ‖ sealed`.
 */
export function makeWrapping(master: Uint8Array): Wrapping {
  const keyOf = (keyId: string): Buffer => Buffer.from(hkdfSync('sha256', master, '', `kms ${keyId}`, 32));

  return {
    wrap: (keyId, plaintext, context) => {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', keyOf(keyId), nonce).setAAD(bound(keyId, context));
      const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      const id = Buffer.from(keyId);
      return Buffer.concat([Buffer.of(version, id.length), id, nonce, cipher.getAuthTag(), sealed]);
    },
    unwrap: (ciphertext, context) => {
      const bytes = Buffer.from(ciphertext);
      const idEnd = 2 + (bytes[1] ?? 0);
      const sealedStart = idEnd + nonceLength + tagLength;
      if (bytes[0] !== version || bytes.length < sealedStart) return undefined;
      const keyId = bytes.toString('utf8', 2, idEnd);
      const decipher = createDecipheriv('aes-256-gcm', keyOf(keyId), bytes.subarray(idEnd, idEnd + nonceLength))
        .setAAD(bound(keyId, context))
        .setAuthTag(bytes.subarray(idEnd + nonceLength, sealedStart));
      try {
        return { keyId, plaintext: Buffer.concat([decipher.update(bytes.subarray(sealedStart)), decipher.final()]) };
      } catch {
        return undefined;
      }
    },
  };
}

/** ARN of the key that a request is about: the one it names, or the one its ciphertext was made with. */
export function keyIn({ KeyId, CiphertextBlob }: Readonly<Record<string, unknown>>): string {
  const named = typeof KeyId === 'string' ? KeyId : keyIdIn(Buffer.from(String(CiphertextBlob), 'base64'));
  return named.startsWith('arn:') ? named : keyArn(named);
}

/** Names and values bound to a ciphertext: it decrypts under exactly these only. */
type EncryptionContext = Readonly<Record<string, string>>;

interface Unwrapped {
  readonly keyId: string;
  readonly plaintext: Buffer;
}

const masterKeyLength = 32;

/** The order of the pairs does not matter to KMS. */
function bound(keyId: string, context: EncryptionContext): Buffer {
  return Buffer.from(JSON.stringify([keyId, Object.entries(context).sort(([one], [other]) => (one < other ? -1 : 1))]));
}

const version = 1;
const nonceLength = 12;
const tagLength = 16;

/** Returns the key id in a ciphertext; empty when there is none. */
function keyIdIn(ciphertext: Buffer): string {
  return ciphertext[0] === version ? ciphertext.toString('utf8', 2, 2 + (ciphertext[1] ?? 0)) : '';
}
