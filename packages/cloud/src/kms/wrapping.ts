import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/**
 * Creates functions that encrypt and decrypt with AES-256-GCM. Each ARN has a key that is derived from the master key.
 * The associated data contains the encryption context. A ciphertext is `version ‖ length of ARN ‖ ARN ‖ nonce ‖ tag ‖ encrypted`.
 */
export function makeWrapping(master: Uint8Array, randomBytes: (length: number) => Buffer) {
  return { wrap, unwrap };

  function wrap(keyArn: string, plaintext: Uint8Array, context?: EncryptionContext): Buffer {
    const nonce = randomBytes(nonceLength);
    const cipher = createCipheriv('aes-256-gcm', keyOf(keyArn), nonce).setAAD(associatedData(keyArn, context));
    const encrypted = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    const arn = Buffer.from(keyArn);
    return Buffer.concat([Buffer.of(version, arn.length), arn, nonce, cipher.getAuthTag(), encrypted]);
  }

  /** Decrypts a ciphertext. Returns `undefined` if it was altered, or created with another context or master key. */
  function unwrap(ciphertext: Uint8Array, context?: EncryptionContext) {
    const bytes = Buffer.from(ciphertext);
    const keyArn = keyArnIn(bytes);
    const nonceAt = 2 + (bytes[1] ?? 0);
    const tagAt = nonceAt + nonceLength;
    const encryptedAt = tagAt + tagLength;
    if (keyArn === undefined || bytes.length < encryptedAt) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', keyOf(keyArn), bytes.subarray(nonceAt, tagAt))
      .setAAD(associatedData(keyArn, context))
      .setAuthTag(bytes.subarray(tagAt, encryptedAt));
    try {
      return { keyArn, plaintext: Buffer.concat([decipher.update(bytes.subarray(encryptedAt)), decipher.final()]) };
    } catch {
      return undefined;
    }
  }

  function keyOf(keyArn: string): Buffer {
    return Buffer.from(hkdfSync('sha256', master, '', `kms ${keyArn}`, 32));
  }
}

/** Returns the ARN of the key that encrypted a ciphertext, or `undefined` if the ciphertext is malformed. */
export function keyArnIn(ciphertext: Buffer): string | undefined {
  return ciphertext[0] === version ? ciphertext.toString('utf8', 2, 2 + (ciphertext[1] ?? 0)) : undefined;
}

type EncryptionContext = Readonly<Record<string, string>> | undefined;

/** Returns the associated data. It sorts the pairs, because KMS ignores their order. */
function associatedData(keyArn: string, context: EncryptionContext = {}): Buffer {
  const pairs = Object.entries(context).sort(([one], [other]) => (one < other ? -1 : 1));
  return Buffer.from(JSON.stringify([keyArn, pairs]));
}

const version = 1;
const nonceLength = 12;
const tagLength = 16;
