import { createCipheriv, createDecipheriv } from 'node:crypto';
import { KeyNotFoundError, type Keyring } from './keyring.ts';
import type { Random } from './random.ts';

export type Encryption = ReturnType<typeof makeEncryption>;

/**
 * Creates the encryption of small stored secrets with AES-256-GCM (NIST SP 800-38D) and the keyring's encryption key. The authenticated
 * binding identifies the record (account, event, field), so a value that was copied to another record cannot be decrypted. The encrypted form
 * is `keyId.base64url(nonce ‖ ciphertext ‖ tag)`.
 */
export function makeEncryption(keyring: Pick<Keyring, 'active' | 'find' | 'open'>, { bytes }: Pick<Random, 'bytes'>) {
  return { encrypt, ...makeDecryption(keyring) };

  async function encrypt(plaintext: string, binding: string): Promise<string> {
    const key = await keyring.active('encryption');
    const nonce = bytes(nonceLength);
    const cipher = createCipheriv('aes-256-gcm', await keyring.open(key), nonce).setAAD(Buffer.from(binding));
    const encrypted = Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${key.keyId}.${encrypted.toString('base64url')}`;
  }
}

/** Creates the decryption, for functions that must not encrypt. */
export function makeDecryption(keyring: Pick<Keyring, 'find' | 'open'>) {
  return { decrypt };

  /** Decrypts a value. @throws {DecryptionError | KeyNotFoundError} */
  async function decrypt(encrypted: string, binding: string): Promise<string> {
    const [keyId = '', encoded = ''] = encrypted.split('.');
    const key = await keyring.find('encryption', keyId);
    if (!key) throw new KeyNotFoundError('encryption');
    const stored = Buffer.from(encoded, 'base64url');
    if (stored.length < nonceLength + tagLength) throw new DecryptionError();
    const decipher = createDecipheriv('aes-256-gcm', await keyring.open(key), stored.subarray(0, nonceLength))
      .setAAD(Buffer.from(binding))
      .setAuthTag(stored.subarray(-tagLength));
    try {
      const plaintext = [decipher.update(stored.subarray(nonceLength, -tagLength)), decipher.final()];
      return Buffer.concat(plaintext).toString('utf8');
    } catch {
      throw new DecryptionError();
    }
  }
}

const nonceLength = 12;
const tagLength = 16;

/** Thrown if an encrypted value was modified or belongs to another binding. */
class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
  constructor() {
    super('Could not decrypt a value with its key and binding.');
  }
}
