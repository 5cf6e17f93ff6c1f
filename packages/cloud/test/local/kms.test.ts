import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DecryptCommand,
  type DecryptCommandInput,
  GenerateDataKeyPairWithoutPlaintextCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  KMSClient,
  ListKeysCommand,
} from '@aws-sdk/client-kms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { masterKey, startKms } from '../../src/local/kms.ts';
import { settingsOf } from './sdk-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const KeyId = '11111111-2222-3333-4444-555555555555';
const arn = `arn:aws:kms:us-east-1:000000000000:key/${KeyId}`;
const EncryptionContext = { purpose: 'signing', stage: 'local' };
const directory = temporaryDirectory();
const ends: (() => unknown)[] = [];

const start = async (master: Uint8Array) => {
  const service = await startKms(master);
  service.ensureKey(KeyId);
  service.ensureKey('other');
  const client = new KMSClient(settingsOf(service.endpoint));
  ends.push(() => client.destroy(), service.stop);
  return {
    client,
    dataKey: async (context?: Record<string, string>, key = KeyId) => {
      const input = { KeyId: key, NumberOfBytes: 32, EncryptionContext: context };
      return (await client.send(new GenerateDataKeyWithoutPlaintextCommand(input))).CiphertextBlob;
    },
    decrypt: (input: DecryptCommandInput) => client.send(new DecryptCommand(input)),
  };
};

let kms: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  kms = await start(masterKey());
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

describe('data keys', () => {
  it('decrypt under their context, whatever the order of its pairs', async () => {
    const CiphertextBlob = await kms.dataKey(EncryptionContext, arn);
    const opened = await kms.decrypt({ CiphertextBlob, EncryptionContext });
    expect([opened.Plaintext?.length, opened.KeyId]).toEqual([32, arn]);
    const reversed = { stage: 'local', purpose: 'signing' };
    expect((await kms.decrypt({ CiphertextBlob, EncryptionContext: reversed })).Plaintext).toEqual(opened.Plaintext);
  });

  it.each([
    ['no context', {}],
    ['another value', { purpose: 'mac', stage: 'local' }],
    ['one pair less', { purpose: 'signing' }],
    ['one pair more', { ...EncryptionContext, more: 'x' }],
  ])('do not decrypt under %s', async (_, wrong) => {
    const CiphertextBlob = await kms.dataKey(EncryptionContext);
    await expect(kms.decrypt({ CiphertextBlob, EncryptionContext: wrong })).rejects.toMatchObject({
      name: 'InvalidCiphertextException',
    });
  });

  it('do not decrypt when they were altered, cut or made by somebody else', async () => {
    const made = (await kms.dataKey()) ?? new Uint8Array();
    const altered = made.map((byte, at) => (at === made.length - 1 ? byte ^ 1 : byte));
    for (const CiphertextBlob of [altered, made.subarray(0, 30), new Uint8Array([9, 9]), Buffer.from('nonsense')]) {
      await expect(kms.decrypt({ CiphertextBlob })).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
    }
  });
});

it.each([
  ['ECC_NIST_P256', 'ec'],
  ['RSA_2048', 'rsa'],
] as const)('the wrapped half of a pair %s fits the public one', async (KeyPairSpec, type) => {
  const pair = await kms.client.send(
    new GenerateDataKeyPairWithoutPlaintextCommand({ KeyId, KeyPairSpec, EncryptionContext }),
  );
  expect(pair).not.toHaveProperty('PrivateKeyPlaintext');
  const opened = await kms.decrypt({ CiphertextBlob: pair.PrivateKeyCiphertextBlob, EncryptionContext });
  const privateKey = createPrivateKey({ key: Buffer.from(opened.Plaintext ?? []), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey({ key: Buffer.from(pair.PublicKey ?? []), format: 'der', type: 'spki' });
  expect(publicKey.asymmetricKeyType).toBe(type);
  const message = Buffer.from('message');
  expect(verify('sha256', message, publicKey, sign('sha256', message, privateKey))).toBe(true);
});

it('keys must exist, and must be the one that a caller expects', async () => {
  await expect(kms.dataKey({}, 'nobody')).rejects.toMatchObject({ name: 'NotFoundException' });
  const CiphertextBlob = await kms.dataKey();
  await expect(kms.decrypt({ CiphertextBlob, KeyId: arn })).resolves.toMatchObject({ KeyId: arn });
  await expect(kms.decrypt({ CiphertextBlob, KeyId: 'other' })).rejects.toMatchObject({
    name: 'IncorrectKeyException',
  });
});

it('no other operations are supported', async () => {
  await expect(kms.client.send(new ListKeysCommand({}))).rejects.toMatchObject({ name: 'UnknownOperationException' });
});

describe('the master key', () => {
  it('is kept in a file, so that ciphertexts decrypt after a restart', async () => {
    const file = join(directory, 'master');
    const first = await start(masterKey(file));
    const CiphertextBlob = await first.dataKey();
    const { Plaintext } = await first.decrypt({ CiphertextBlob });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await (await start(masterKey(file))).decrypt({ CiphertextBlob })).Plaintext).toEqual(Plaintext);
    await expect(kms.decrypt({ CiphertextBlob })).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
  });

  it('is never replaced silently', () => {
    const file = join(directory, 'damaged');
    writeFileSync(file, 'short');
    expect(() => masterKey(file)).toThrow(/is damaged/);
  });
});
