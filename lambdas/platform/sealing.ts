import { createCipheriv, createDecipheriv } from 'node:crypto';
import { KeyNotFoundError, type Keyring } from './keyring.ts';
import type { Random } from './random.ts';

export type Sealing = ReturnType<typeof makeSealing>;

/**
 * Makes the encryption of small secrets for storage: AES-256-GCM (NIST SP 800-38D) under the keyring's sealing key.
 * The binding names the secret's place (account, event, field) and is authenticated: a value copied to another record does
 * not open there. Sealed form: `keyId.base64url(nonce ‖ ciphertext ‖ tag)`.
 */
export function makeSealing(keyring: Pick<Keyring, 'active' | 'find' | 'open'>, { bytes }: Pick<Random, 'bytes'>) {
  return { seal, ...makeUnsealing(keyring) };

  async function seal(plaintext: string, binding: string): Promise<string> {
    const key = await keyring.active('sealing');
    const nonce = bytes(nonceLength);
    const cipher = createCipheriv('aes-256-gcm', await keyring.open(key), nonce).setAAD(Buffer.from(binding));
    const sealed = Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${key.keyId}.${sealed.toString('base64url')}`;
  }
}

/** Makes what opens sealed secrets and seals none. */
export function makeUnsealing(keyring: Pick<Keyring, 'find' | 'open'>) {
  return { open };

  /** @throws {SealBrokenError | KeyNotFoundError} */
  async function open(sealed: string, binding: string): Promise<string> {
    const [keyId = '', encoded = ''] = sealed.split('.');
    const key = await keyring.find('sealing', keyId);
    if (!key) throw new KeyNotFoundError('sealing');
    const stored = Buffer.from(encoded, 'base64url');
    if (stored.length < nonceLength + tagLength) throw new SealBrokenError();
    const decipher = createDecipheriv('aes-256-gcm', await keyring.open(key), stored.subarray(0, nonceLength))
      .setAAD(Buffer.from(binding))
      .setAuthTag(stored.subarray(-tagLength));
    try {
      const plaintext = [decipher.update(stored.subarray(nonceLength, -tagLength)), decipher.final()];
      return Buffer.concat(plaintext).toString('utf8');
    } catch {
      throw new SealBrokenError();
    }
  }
}

const nonceLength = 12;
const tagLength = 16;

/** Thrown when a sealed value does not open: it was altered, or belongs to another binding. */
class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError';
  constructor() {
    super('A sealed value does not open under its key and binding.');
  }
}
