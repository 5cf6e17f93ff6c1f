import { createPrivateKey, createPublicKey, randomBytes, sign, verify } from 'node:crypto';
import {
  DecryptCommand,
  type DecryptCommandInput,
  GenerateDataKeyPairWithoutPlaintextCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  KMSClient,
  ListKeysCommand,
} from '@aws-sdk/client-kms';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startKms } from '../../src/local/kms.ts';
import { destroyAfterTest, settingsOf } from './sdk-client.ts';

const KeyId = '11111111-2222-3333-4444-555555555555';
const arn = `arn:aws:kms:us-east-1:000000000000:key/${KeyId}`;
const EncryptionContext = { purpose: 'signing', stage: 'local' };
const master = randomBytes(32);

const start = async (secret = master) => {
  const service = await startKms(secret);
  onTestFinished(service.stop);
  service.ensureKey(KeyId);
  service.ensureKey('other');
  const client = destroyAfterTest(new KMSClient(settingsOf(service.endpoint)));
  return {
    client,
    dataKey: async (context?: Record<string, string>, key = KeyId) => {
      const input = { KeyId: key, NumberOfBytes: 32, EncryptionContext: context };
      return (await client.send(new GenerateDataKeyWithoutPlaintextCommand(input))).CiphertextBlob;
    },
    decrypt: (input: DecryptCommandInput) => client.send(new DecryptCommand(input)),
  };
};

describe('data keys', () => {
  it('are decrypted with the same context pairs in any order, even in a later run with the same master key', async () => {
    const { dataKey, decrypt } = await start();
    const CiphertextBlob = await dataKey(EncryptionContext, arn);
    const opened = await decrypt({ CiphertextBlob, EncryptionContext });
    expect([opened.Plaintext?.length, opened.KeyId]).toEqual([32, arn]);
    const next = await start();
    const reversed = { stage: 'local', purpose: 'signing' };
    const again = await next.decrypt({ CiphertextBlob, EncryptionContext: reversed });
    expect(again.Plaintext).toEqual(opened.Plaintext);
  });

  it.each([
    ['no context', {}],
    ['another value', { purpose: 'mac', stage: 'local' }],
    ['a missing pair', { purpose: 'signing' }],
    ['an additional pair', { ...EncryptionContext, more: 'x' }],
  ])('are not decrypted with %s', async (_, wrong) => {
    const { dataKey, decrypt } = await start();
    const CiphertextBlob = await dataKey(EncryptionContext);
    const rejected = decrypt({ CiphertextBlob, EncryptionContext: wrong });
    await expect(rejected).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
  });

  it('are not decrypted if they are altered, truncated or encrypted under another master key', async () => {
    const { dataKey, decrypt } = await start();
    const made = (await dataKey()) ?? new Uint8Array();
    const altered = made.map((byte, at) => (at === made.length - 1 ? byte ^ 1 : byte));
    const otherCiphertext = await (await start(randomBytes(32))).dataKey();
    for (const CiphertextBlob of [altered, made.subarray(0, 30), Buffer.from('nonsense'), otherCiphertext]) {
      await expect(decrypt({ CiphertextBlob })).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
    }
  });
});

it.each([
  ['ECC_NIST_P256', 'ec'],
  ['RSA_2048', 'rsa'],
] as const)('the wrapped private key of an %s pair matches the public key', async (KeyPairSpec, type) => {
  const { client, decrypt } = await start();
  const pair = await client.send(
    new GenerateDataKeyPairWithoutPlaintextCommand({ KeyId, KeyPairSpec, EncryptionContext }),
  );
  expect(pair).not.toHaveProperty('PrivateKeyPlaintext');
  const opened = await decrypt({ CiphertextBlob: pair.PrivateKeyCiphertextBlob, EncryptionContext });
  const privateKey = createPrivateKey({ key: Buffer.from(opened.Plaintext ?? []), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey({ key: Buffer.from(pair.PublicKey ?? []), format: 'der', type: 'spki' });
  expect(publicKey.asymmetricKeyType).toBe(type);
  const message = Buffer.from('message');
  expect(verify('sha256', message, publicKey, sign('sha256', message, privateKey))).toBe(true);
});

it('rejects unknown keys, and keys that did not encrypt the ciphertext', async () => {
  const { client, dataKey, decrypt } = await start();
  await expect(dataKey({}, 'nobody')).rejects.toMatchObject({ name: 'NotFoundException' });
  const CiphertextBlob = await dataKey();
  await expect(decrypt({ CiphertextBlob, KeyId: arn })).resolves.toMatchObject({ KeyId: arn });
  await expect(decrypt({ CiphertextBlob, KeyId: 'other' })).rejects.toMatchObject({ name: 'IncorrectKeyException' });
  await expect(client.send(new ListKeysCommand({}))).rejects.toMatchObject({ name: 'UnknownOperationException' });
});
