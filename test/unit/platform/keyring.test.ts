import { randomBytes } from 'node:crypto';
import { DecryptCommand, GenerateDataKeyWithoutPlaintextCommand } from '@aws-sdk/client-kms';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { makeKms } from '@emissor/cloud/kms';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type KeyringKey, makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { type FrozenClock, frozenClock } from '../../support/clock.ts';
import { type Database, startDatabase } from '../../support/database/database.ts';

let clock: FrozenClock;
let database: Database;
let kms: ReturnType<typeof makeKms>;
beforeEach(async () => {
  clock = frozenClock();
  kms = makeKms({ bytes: randomBytes });
  vi.spyOn(kms, 'send');
  database = await startDatabase('Keyring');
});
afterEach(() => database.stop());

const ring = (changes: object = {}) =>
  makeKeyring({ dynamo: database.dynamo, kms, table: 'Keyring', ...clock.time, ...changes });
const put = async (generation: number, activeFrom: number, kind: KeyringKey['kind'] = 'mac'): Promise<KeyringKey> => {
  const keyId = `${kind}${generation}`;
  const settings = { KeyId: 'test', NumberOfBytes: 32, EncryptionContext: { purpose: kind } };
  const { CiphertextBlob: wrapped } = Object(kms.execute(new GenerateDataKeyWithoutPlaintextCommand(settings)));
  const key = { kind, generation, keyId, createdAt: clock.now(), activeFrom, wrapped };
  await database.dynamo(new PutCommand({ TableName: 'Keyring', Item: key }));
  return key;
};
const queries = () => database.operations.filter(operation => operation === 'QueryCommand').length;
const decryptions = () =>
  vi.mocked(kms.send).mock.calls.filter(([command]) => command instanceof DecryptCommand).length;

describe('the keyring', () => {
  it('uses the newest active key and finds the others', async () => {
    await put(1, clock.now() - 2);
    await put(2, clock.now());
    await put(3, clock.now() + 1_000);
    await put(9, clock.now(), 'encryption');
    const keyring = ring();
    expect((await keyring.active('mac')).keyId).toBe('mac2');
    expect((await keyring.list('mac')).map(({ keyId }) => keyId)).toEqual(['mac1', 'mac2', 'mac3']);
    expect(await keyring.find('mac', 'mac3')).toMatchObject({ generation: 3 });
    expect(await keyring.find('mac', 'encryption9')).toBeUndefined();
    clock.advance(1_000);
    expect((await keyring.active('mac')).keyId).toBe('mac3');
  });

  it('rejects an empty key from KMS', async () => {
    const key = await put(1, clock.now());
    const send = async () => ({ Plaintext: new Uint8Array() });
    await expect(ring({ kms: { send } }).open(key)).rejects.toMatchObject({ name: 'KeyNotFoundError' });
  });

  it('throws if there is no key, and finds the first key as soon as it exists', async () => {
    const keyring = ring();
    await expect(keyring.active('signing')).rejects.toMatchObject({ name: 'KeyNotFoundError' });
    await put(1, clock.now(), 'signing');
    expect((await keyring.active('signing')).generation).toBe(1);
  });

  it('reads the table again after 30 s', async () => {
    await put(1, clock.now());
    const keyring = ring();
    await keyring.active('mac');
    await put(2, clock.now());
    clock.advance(29_999);
    expect((await keyring.active('mac')).generation).toBe(1);
    clock.advance(1);
    expect((await keyring.active('mac')).generation).toBe(2);
    expect(queries()).toBe(2);
  });

  it('reads the table for an unknown key at once, but at most once per second', async () => {
    await put(1, clock.now());
    const keyring = ring();
    await keyring.list('mac');
    await put(2, clock.now());
    const found = await Promise.all([1, 2, 3].map(() => keyring.find('mac', 'mac2')));
    expect(found.map(key => key?.generation)).toEqual([2, 2, 2]);
    for (let time = 0; time < 10; time++) expect(await keyring.find('mac', 'forged')).toBeUndefined();
    expect(queries()).toBe(2);
    clock.advance(1_000);
    for (let time = 0; time < 10; time++) await keyring.find('mac', 'forged');
    expect(queries()).toBe(3);
  });

  it('unwraps a key once for concurrent callers, and only for its own purpose', async () => {
    const key = await put(1, clock.now());
    const keyring = ring();
    const opened = await Promise.all([1, 2, 3].map(() => keyring.open(key)));
    expect(new Set(opened).size).toBe(1);
    expect(decryptions()).toBe(1);
    await expect(keyring.open({ ...key, keyId: 'x', kind: 'encryption' })).rejects.toMatchObject({
      name: 'InvalidCiphertextException',
    });
  });

  it('lists keys without KMS, but cannot unwrap them', async () => {
    const key = await put(1, clock.now());
    const keyring = ring({ kms: undefined });
    expect(await keyring.list('mac')).toHaveLength(1);
    expect(() => keyring.open(key)).toThrow('no usable mac key');
  });
});

describe('keys that are unwrapped while the function loads', () => {
  it('are the active keys of each kind, and requests do not unwrap them again', async () => {
    await put(1, clock.now() - 1);
    await put(2, clock.now());
    await put(3, clock.now() + 1);
    await put(1, clock.now(), 'encryption');
    const keyring = ring();
    keyring.prefetch('mac', 'encryption');
    await expect.poll(decryptions).toBe(2); // there was no request yet
    for (const kind of ['mac', 'encryption'] as const) await keyring.open(await keyring.active(kind));
    expect(queries()).toBe(2);
    expect(decryptions()).toBe(2);
  });

  it('are unwrapped by the first request if they were missing or KMS failed', async () => {
    const keyring = ring();
    keyring.prefetch('mac');
    await expect(keyring.active('mac')).rejects.toMatchObject({ name: 'KeyNotFoundError' });
    await put(1, clock.now());
    vi.mocked(kms.send).mockRejectedValueOnce(new Error('throttled'));
    keyring.prefetch('mac');
    const key = await keyring.active('mac');
    await new Promise(setImmediate);
    expect((await keyring.open(key)).symmetricKeySize).toBe(32);
  });
});
