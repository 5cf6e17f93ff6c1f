import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DecryptCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  GenerateDataKeyPairWithoutPlaintextCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  KMSClient,
  ListKeysCommand,
} from '@aws-sdk/client-kms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultKind, makeFaultInterceptor } from '../../src/fault-injection.ts';
import { type KeyService, startKms } from '../../src/kms/service.ts';
import { masterKey } from '../../src/kms/wrapping.ts';

const KeyId = '11111111-2222-3333-4444-555555555555';
const arn = `arn:aws:kms:us-east-1:000000000000:key/${KeyId}`;
const EncryptionContext = { purpose: 'signing', stage: 'local' };
const directory = mkdtempSync(join(tmpdir(), 'local-cloud-kms-'));
const clients: KMSClient[] = [];
const services: KeyService[] = [];

const start = async (master: Uint8Array, fault?: FaultKind): Promise<KMSClient> => {
  const service = await startKms(master, [makeFaultInterceptor({ happens: kind => kind === fault })]);
  service.ensureKey(KeyId);
  service.ensureKey('other');
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = new KMSClient({ region: 'us-east-1', endpoint: service.endpoint, credentials, maxAttempts: 1 });
  services.push(service);
  clients.push(client);
  return client;
};

let kms: KMSClient;
beforeAll(async () => {
  kms = await start(masterKey());
});
afterAll(async () => {
  for (const client of clients) client.destroy();
  for (const service of services) await service.stop();
  rmSync(directory, { recursive: true });
});

describe('data keys', () => {
  it('decrypt under their context, whatever the order of its pairs', async () => {
    const {
      Plaintext,
      CiphertextBlob,
      KeyId: used,
    } = await kms.send(new GenerateDataKeyCommand({ KeyId: arn, KeySpec: 'AES_256', EncryptionContext }));
    expect([Plaintext?.length, used]).toEqual([32, arn]);
    const reversed = { stage: 'local', purpose: 'signing' };
    const opened = await kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: reversed }));
    expect(opened.Plaintext).toEqual(Plaintext);
    expect(opened.KeyId).toBe(arn);
  });

  it.each([
    ['no context', {}],
    ['another value', { purpose: 'mac', stage: 'local' }],
    ['one pair less', { purpose: 'signing' }],
    ['one pair more', { ...EncryptionContext, more: 'x' }],
  ])('do not decrypt under %s', async (_, wrong) => {
    const { CiphertextBlob } = await kms.send(
      new GenerateDataKeyWithoutPlaintextCommand({ KeyId, NumberOfBytes: 32, EncryptionContext }),
    );
    const decrypt = kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: wrong }));
    await expect(decrypt).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
  });

  it('do not decrypt when they were altered, cut or made by somebody else', async () => {
    const { CiphertextBlob = new Uint8Array() } = await kms.send(
      new GenerateDataKeyWithoutPlaintextCommand({ KeyId, KeySpec: 'AES_128' }),
    );
    const altered = Uint8Array.from(CiphertextBlob, (byte, index) =>
      index === CiphertextBlob.length - 1 ? byte ^ 1 : byte,
    );
    for (const blob of [altered, CiphertextBlob.subarray(0, 30), new Uint8Array([9, 9]), Buffer.from('nonsense')]) {
      const decrypt = kms.send(new DecryptCommand({ CiphertextBlob: blob }));
      await expect(decrypt).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
    }
  });
});

describe('key pairs', () => {
  it.each([
    ['ECC_NIST_P256', 'ec'],
    ['RSA_2048', 'rsa'],
  ] as const)('%s: the wrapped half fits the public one', async (KeyPairSpec, type) => {
    const pair = await kms.send(
      new GenerateDataKeyPairWithoutPlaintextCommand({ KeyId, KeyPairSpec, EncryptionContext }),
    );
    expect(pair).not.toHaveProperty('PrivateKeyPlaintext');
    const { Plaintext = new Uint8Array() } = await kms.send(
      new DecryptCommand({ CiphertextBlob: pair.PrivateKeyCiphertextBlob, EncryptionContext }),
    );
    const privateKey = createPrivateKey({ key: Buffer.from(Plaintext), format: 'der', type: 'pkcs8' });
    const publicKey = createPublicKey({ key: Buffer.from(pair.PublicKey ?? []), format: 'der', type: 'spki' });
    expect(publicKey.asymmetricKeyType).toBe(type);
    const message = Buffer.from('message');
    expect(verify('sha256', message, publicKey, sign('sha256', message, privateKey))).toBe(true);
  });
});

describe('keys', () => {
  it('must exist, and must be the one that a caller expects', async () => {
    const missing = kms.send(new EncryptCommand({ KeyId: 'nobody', Plaintext: Buffer.from('x') }));
    await expect(missing).rejects.toMatchObject({ name: 'NotFoundException' });
    const { CiphertextBlob } = await kms.send(new EncryptCommand({ KeyId, Plaintext: Buffer.from('x') }));
    expect((await kms.send(new DecryptCommand({ CiphertextBlob, KeyId: arn }))).Plaintext).toEqual(
      Uint8Array.from([120]),
    );
    const wrong = kms.send(new DecryptCommand({ CiphertextBlob, KeyId: 'other' }));
    await expect(wrong).rejects.toMatchObject({ name: 'IncorrectKeyException' });
  });

  it('encrypt 1 to 4096 bytes, and support no other operations', async () => {
    const tooLong = kms.send(new EncryptCommand({ KeyId, Plaintext: new Uint8Array(4097) }));
    await expect(tooLong).rejects.toMatchObject({ name: 'ValidationException' });
    await expect(kms.send(new ListKeysCommand({}))).rejects.toMatchObject({ name: 'UnknownOperationException' });
  });
});

describe('the master key', () => {
  it('is kept in a file, so that ciphertexts decrypt after a restart', async () => {
    const file = join(directory, 'master');
    const { CiphertextBlob } = await (await start(masterKey(file))).send(
      new EncryptCommand({ KeyId, Plaintext: Buffer.from('kept') }),
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await start(masterKey(file));
    const { Plaintext = [] } = await again.send(new DecryptCommand({ CiphertextBlob }));
    expect(Buffer.from(Plaintext).toString()).toBe('kept');
    await expect(kms.send(new DecryptCommand({ CiphertextBlob }))).rejects.toMatchObject({
      name: 'InvalidCiphertextException',
    });
  });

  it('is never replaced silently', () => {
    const file = join(directory, 'damaged');
    writeFileSync(file, 'short');
    expect(() => masterKey(file)).toThrow(/is damaged/);
  });
});

it.each([
  ['throttledKeyUses', { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } }],
  ['failedKeyUses', { name: 'KMSInternalException', $metadata: { httpStatusCode: 500 } }],
] as const)('fails requests of functions when that fault is injected: %s', async (fault, expected) => {
  const client = await start(masterKey(), fault);
  await expect(client.send(new EncryptCommand({ KeyId, Plaintext: Buffer.from('x') }))).rejects.toMatchObject(expected);
});
