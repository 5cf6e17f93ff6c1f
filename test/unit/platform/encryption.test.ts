import { createSecretKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeEncryption } from '../../../lambdas/platform/encryption.ts';
import type { Keyring, KeyringKey } from '../../../lambdas/platform/keyring.ts';
import { systemRandom } from '../../../lambdas/platform/random.ts';

const keys = [1, 2].map(generation => {
  const key: KeyringKey = {
    kind: 'encryption',
    generation,
    keyId: `k${generation}`,
    createdAt: 0,
    activeFrom: 0,
    wrapped: new Uint8Array(),
  };
  return { key, opened: createSecretKey(randomBytes(32)) };
});
let activeIndex = 0;
const keyring: Pick<Keyring, 'active' | 'find' | 'open'> = {
  active: async () => keys[activeIndex]?.key ?? Promise.reject(new Error('no key')),
  find: async (_, keyId) => keys.map(({ key }) => key).find(key => key.keyId === keyId),
  open: async keyringKey => keys.find(({ key }) => key === keyringKey)?.opened ?? Promise.reject(new Error('no key')),
};
const encryption = makeEncryption(keyring, systemRandom);

describe('encryption', () => {
  it('produces values that can be decrypted only with the same binding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), fc.string(), async (text, binding, other) => {
        fc.pre(binding !== other && text.isWellFormed());
        const encrypted = await encryption.encrypt(text, binding);
        expect(encrypted).toMatch(/^k1\.[\w-]+$/);
        expect(await encryption.decrypt(encrypted, binding)).toBe(text);
        await expect(encryption.decrypt(encrypted, other)).rejects.toMatchObject({ name: 'DecryptionError' });
      }),
    );
  });

  it('never returns the same ciphertext twice', async () => {
    expect(await encryption.encrypt('a', 'b')).not.toBe(await encryption.encrypt('a', 'b'));
  });

  it('decrypts values that an earlier key encrypted', async () => {
    const encrypted = await encryption.encrypt('old', 'binding');
    activeIndex = 1;
    expect(await encryption.encrypt('new', 'binding')).toMatch(/^k2\./);
    expect(await encryption.decrypt(encrypted, 'binding')).toBe('old');
    activeIndex = 0;
  });

  it('rejects modified values', async () => {
    const encrypted = await encryption.encrypt('secret', 'binding');
    const [, encoded = ''] = encrypted.split('.');
    for (let position = 0; position < Buffer.from(encoded, 'base64url').length; position++) {
      const bytes = Buffer.from(encoded, 'base64url');
      bytes[position] = (bytes[position] ?? 0) ^ 1;
      const altered = `k1.${bytes.toString('base64url')}`;
      await expect(encryption.decrypt(altered, 'binding')).rejects.toMatchObject({ name: 'DecryptionError' });
    }
    await expect(encryption.decrypt('k1.AAAA', 'binding')).rejects.toMatchObject({ name: 'DecryptionError' });
    await expect(encryption.decrypt(`k9.${encoded}`, 'binding')).rejects.toMatchObject({ name: 'KeyNotFoundError' });
  });
});
