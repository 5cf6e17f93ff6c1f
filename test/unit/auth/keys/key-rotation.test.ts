import { randomBytes } from 'node:crypto';
import { GenerateDataKeyWithoutPlaintextCommand } from '@aws-sdk/client-kms';
import { makeKms } from '@emissor/cloud/kms';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type KeyRotation, makeKeyRotation } from '../../../../lambdas/auth/keys/key-rotation.ts';
import { keyState } from '../../../../lambdas/auth/keys/rotation-plan.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { type KeyKind, makeKeyring, type SigningAlgorithm } from '../../../../lambdas/platform/keyring.ts';
import { type FrozenClock, frozenClock } from '../../../support/clock.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';

const day = 86_400_000;
const kinds: readonly KeyKind[] = ['signing', 'mac', 'encryption'];

let clock: FrozenClock;
let database: Database;
let kms: ReturnType<typeof makeKms>;
let rotation: KeyRotation;
beforeEach(async () => {
  clock = frozenClock();
  kms = makeKms({ bytes: randomBytes });
  database = await startDatabase('Keyring');
  rotation = rotationWith('ES256');
});
afterEach(() => database.stop());

const rotationWith = (algorithm: SigningAlgorithm): KeyRotation =>
  makeKeyRotation({
    table: 'Keyring',
    keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/test',
    algorithm,
    dynamo: database.dynamo,
    kms,
    now: clock.now,
    makeId: randomId,
  });
const keyring = () => makeKeyring({ dynamo: database.dynamo, kms, table: 'Keyring', ...clock.time });
const generations = async (kind: KeyKind) => (await keyring().list(kind)).map(({ generation }) => generation);

describe('Key rotation', () => {
  it('creates the first key of each kind, which is active immediately, with its own encryption context.', async () => {
    await rotation.rotateKeys();
    for (const kind of kinds) {
      const ring = keyring();
      const key = await ring.active(kind);
      expect(key).toMatchObject({ kind, generation: 1, activeFrom: clock.now() });
      expect((await ring.open(key)).type).toBe(kind === 'signing' ? 'private' : 'secret');
      await expect(ring.open({ ...key, keyId: 'x', kind: kind === 'mac' ? 'encryption' : 'mac' })).rejects.toThrow();
    }
  });

  it('creates one key of each kind even if it runs repeatedly or concurrently.', async () => {
    await Promise.all([rotation.rotateKeys(), rotation.rotateKeys(), rotation.rotateKeys()]);
    await rotation.rotateKeys();
    for (const kind of kinds) expect(await generations(kind)).toEqual([1]);
  });

  it('creates the missing keys after a failed run.', async () => {
    const { send } = kms;
    const failing = vi.spyOn(kms, 'send').mockImplementation(command => {
      const isDataKey = command instanceof GenerateDataKeyWithoutPlaintextCommand;
      return isDataKey ? Promise.reject(new Error('internal')) : send(command);
    });
    await expect(rotation.rotateKeys()).rejects.toThrow();
    failing.mockRestore();
    await rotation.rotateKeys();
    for (const kind of kinds) expect(await generations(kind)).toEqual([1]);
  });

  it('replaces keys every 90 days and publishes each key at least a day before its first use (docs/tokens.md).', async () => {
    const start = clock.now();
    await rotation.rotateKeys();
    const published = new Map([[0, -day]]); // the time at which each key was published, by the time of its first use
    for (let days = 1; days <= 400; days++) {
      clock.advance(day);
      await rotation.rotateKeys();
      for (const { activeFrom } of await keyring().list('signing')) {
        const firstUse = activeFrom - start;
        published.set(firstUse, published.get(firstUse) ?? days * day);
      }
    }
    expect([...published.keys()].map(firstUse => firstUse / day)).toEqual([0, 90, 180, 270, 360]);
    for (const [firstUse, at] of published) expect(firstUse - at).toBeGreaterThanOrEqual(day);
  }, 60_000);

  it('publishes a key a day before its first use even if the rotation is overdue.', async () => {
    await rotation.rotateKeys();
    clock.advance(200 * day);
    await rotation.rotateKeys();
    const [first, second] = await keyring().list('signing');
    expect(second?.activeFrom).toBe(clock.now() + day);
    expect((await keyring().active('signing')).keyId).toBe(first?.keyId);
    clock.advance(day);
    expect((await keyring().active('signing')).keyId).toBe(second?.keyId);
  });

  it('deletes a key once no token depends on it, but never deletes an encryption key.', async () => {
    await rotation.rotateKeys();
    clock.advance(89 * day);
    await rotation.rotateKeys();
    clock.advance(day + day + 899_000); // the second keys have been active for a day and nearly the lifetime of a token
    await rotation.rotateKeys();
    expect(await generations('signing')).toEqual([1, 2]);
    clock.advance(1_000);
    await rotation.rotateKeys();
    expect(await generations('signing')).toEqual([2]);
    expect(await generations('mac')).toEqual([1, 2]);
    clock.advance(90 * day);
    await rotation.rotateKeys();
    expect(await generations('mac')).not.toContain(1);
    expect(await generations('encryption')).toContain(1);
  });

  it('creates a key if the configured algorithm changes.', async () => {
    await rotation.rotateKeys();
    const other = rotationWith('RS256');
    await other.rotateKeys();
    await other.rotateKeys();
    expect((await keyring().list('signing')).map(({ algorithm }) => algorithm)).toEqual(['ES256', 'RS256']);
    expect((await keyring().active('signing')).algorithm).toBe('ES256');
    clock.advance(day);
    expect((await keyring().active('signing')).algorithm).toBe('RS256');
  });
});

it('The state of a key changes from next to active to retiring. A key that is replaced before its first use is also retiring.', async () => {
  const states = async () => {
    const keys = await keyring().list('mac');
    return keys.map(key => keyState(key, keys, clock.now()));
  };
  await rotation.rotateKeys();
  expect(await states()).toEqual(['active']);
  clock.advance(88 * day);
  await rotation.rotateKeys();
  clock.advance(2 * day - 1);
  expect(await states()).toEqual(['active', 'next']);
  clock.advance(1);
  expect(await states()).toEqual(['retiring', 'active']);
  clock.advance(89 * day);
  await rotation.rotateKeys();
  await rotation.rotateNow('mac');
  expect(await states()).toEqual(['retiring', 'retiring', 'retiring', 'active']);
});

describe('An emergency rotation', () => {
  it('creates a key that is active immediately and replaces a published key.', async () => {
    await rotation.rotateKeys();
    clock.advance(89 * day);
    await rotation.rotateKeys();
    expect(await rotation.rotateNow('signing')).toEqual({ kind: 'signing', created: 3, removed: [] });
    expect((await keyring().active('signing')).generation).toBe(3);
    clock.advance(2 * day);
    expect((await keyring().active('signing')).generation).toBe(3);
  });

  it('creates a key that is active even for a function with a slow clock.', async () => {
    await rotation.rotateKeys();
    await rotation.rotateNow('signing', { revoke: true });
    clock.advance(-4_000);
    expect((await keyring().active('signing')).generation).toBe(2);
  });

  it('revokes all other keys on request, even if the SDK repeats the write after a lost response.', async () => {
    await rotation.rotateKeys();
    database.repeatNext('PutItemCommand');
    const revoked = await rotation.rotateNow('signing', { revoke: true });
    expect(revoked).toEqual({ kind: 'signing', created: 2, removed: [1] });
    expect(await generations('signing')).toEqual([2]);
    expect(await generations('mac')).toEqual([1]);
  });
});
