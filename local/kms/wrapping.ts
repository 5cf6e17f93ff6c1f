import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** What KMS does with a key that never leaves it. */
export interface Wrapping {
  wrap(keyId: string, plaintext: Uint8Array, context: EncryptionContext): Buffer;
  /** `undefined` when the ciphertext was altered, or made under another context or another master key. */
  unwrap(ciphertext: Uint8Array, context: EncryptionContext): Unwrapped | undefined;
}

/** The id of the key that a ciphertext says it was made with; empty when it does not say. */
export function keyIdIn(ciphertext: Buffer): string {
  return ciphertext[0] === version ? ciphertext.toString('utf8', 2, 2 + (ciphertext[1] ?? 0)) : '';
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

/** Names and values bound to a ciphertext: it opens under exactly these only. */
type EncryptionContext = Readonly<Record<string, string>>;

/** A ciphertext taken apart again. */
interface Unwrapped {
  readonly keyId: string;
  readonly plaintext: Buffer;
}

const version = 1;
const nonceLength = 12;

/** The order of the pairs does not matter to KMS. */
function bound(keyId: string, context: EncryptionContext): Buffer {
  return Buffer.from(JSON.stringify([keyId, Object.entries(context).sort(([one], [other]) => (one < other ? -1 : 1))]));
}

const tagLength = 16;
