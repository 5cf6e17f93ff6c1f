import { createPrivateKey, createSecretKey, type KeyObject } from 'node:crypto';
import { DecryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo, StoreParts } from './aws/dynamo.ts';
import { makeCallCache } from './call-cache.ts';
import type { After } from './timer.ts';

export const keyKinds = ['signing', 'mac', 'encryption'] as const;

/** The purpose of a key. Each kind has its own KMS encryption context, so a policy can allow a function to unwrap only one kind. */
export type KeyKind = (typeof keyKinds)[number];

/** The signature algorithms for access tokens (RFC 7518 section 3.1). */
export type SigningAlgorithm = 'ES256' | 'RS256';

/**
 * A key of the keyring. Table `Keyring` has the partition key `kind` and the sort key `generation` (1, 2, …). The state of a key depends on
 * the time and is not stored. A key is *next* until `activeFrom`, *active* until the `activeFrom` of a later key, and then *retiring* until
 * the rotation deletes it.
 */
export interface KeyringKey {
  readonly kind: KeyKind;
  readonly generation: number;
  /** The random id, which is the `kid` of tokens and the `keyId` of refresh tokens and encrypted values. */
  readonly keyId: string;
  /** The creation time in milliseconds since the epoch. */
  readonly createdAt: number;
  /** The time from which the key is used, in milliseconds since the epoch. Until then, the key is only published. */
  readonly activeFrom: number;
  /** The key as encrypted by KMS. For `signing`, it is the private key as PKCS #8 DER. For the other kinds, it is 32 bytes. */
  readonly wrapped: Uint8Array;
  /** The signature algorithm. Set only for `signing`. */
  readonly algorithm?: SigningAlgorithm;
  /** The public key as SubjectPublicKeyInfo DER. Set only for `signing`. */
  readonly publicKey?: Uint8Array;
}

/** Thrown if the keyring has no usable key, because the deployment has not created one yet or the rotation has deleted it. */
export class KeyNotFoundError extends Error {
  override readonly name = 'KeyNotFoundError';
  constructor(kind: KeyKind) {
    super(
      `The keyring has no usable ${kind} key. Check that the deployment has run its key trigger, which creates the keys.`,
    );
  }
}

export type Keyring = ReturnType<typeof makeKeyring>;

/** Returns the KMS encryption context of a kind. Policies allow `kms:Decrypt` only for this context. */
export function keyringContext(kind: KeyKind): Record<string, string> {
  return { purpose: kind };
}

/** Creates a reader for table `Keyring`, which caches the list of keys for 30 s. Each process creates one reader. */
export function makeKeyring({
  dynamo,
  kms,
  table,
  now,
  after,
}: StoreParts & {
  /** The KMS client. Optional if keys are only listed. */
  readonly kms?: Pick<KMSClient, 'send'>;
  readonly after: After;
}) {
  const lists = makeCallCache<KeyKind, readonly KeyringKey[]>({ now, after });
  const rereadAt = new Map<KeyKind, number>();
  const opened = makeCallCache<string, KeyObject>({ now, after });

  return { list, active, find, open, prefetch };

  /** Lists all keys of a kind, oldest first. */
  function list(kind: KeyKind): Promise<readonly KeyringKey[]> {
    return lists.get(kind, cacheLifetime, () => readKeys(dynamo, table, kind));
  }

  /** Returns the key that currently signs, authenticates or encrypts. @throws {KeyNotFoundError} */
  async function active(kind: KeyKind): Promise<KeyringKey> {
    return latestOf(kind, await list(kind));
  }

  /** Returns the key with an id, even if the cache does not contain it yet, or `undefined` if it does not exist. */
  async function find(kind: KeyKind, keyId: string): Promise<KeyringKey | undefined> {
    const hasKeyId = (key: KeyringKey) => key.keyId === keyId;
    const cached = (await list(kind)).find(hasKeyId);
    if (cached) return cached;
    const mayReread = now() - (rereadAt.get(kind) ?? Number.NEGATIVE_INFINITY) >= rereadInterval;
    if (mayReread) rereadAt.set(kind, now());
    const keys = lists.get(kind, mayReread ? 0 : cacheLifetime, () => readKeys(dynamo, table, kind));
    return (await keys).find(hasKeyId);
  }

  /**
   * Returns the unwrapped key. For `signing`, this is the private key. The first call unwraps it with `kms:Decrypt`, and the reader caches
   * it permanently. The infrastructure grants access by kind (`allowUse`).
   */
  function open(key: KeyringKey): Promise<KeyObject> {
    return opened.get(key.keyId, Number.POSITIVE_INFINITY, () => unwrap(key));
  }

  /**
   * Starts to unwrap the active key of each kind while the function loads. Ignores failures, because there may be no key yet. In that case,
   * the first request unwraps the key.
   */
  function prefetch(...kinds: readonly KeyKind[]): void {
    for (const kind of kinds) {
      lists
        .prefetch(kind, () => readKeys(dynamo, table, kind))
        .then(keys => latestOf(kind, keys))
        .then(key => opened.prefetch(key.keyId, () => unwrap(key)))
        .catch(() => undefined);
    }
  }

  function latestOf(kind: KeyKind, keys: readonly KeyringKey[]): KeyringKey {
    const moment = now();
    const latest = keys.filter(key => key.activeFrom <= moment).at(-1);
    if (latest) return latest;
    lists.remove(kind); // the deployment may create the first key at any time
    throw new KeyNotFoundError(kind);
  }

  function unwrap({ kind, wrapped }: KeyringKey): Promise<KeyObject> {
    if (!kms) throw new KeyNotFoundError(kind);
    return kms
      .send(new DecryptCommand({ CiphertextBlob: wrapped, EncryptionContext: keyringContext(kind) }))
      .then(({ Plaintext: plaintext }) => {
        if (!plaintext?.length) throw new KeyNotFoundError(kind); // an empty key would be insecure
        return keyObject(kind, plaintext);
      });
  }
}

/** Reads all keys of a kind, oldest first, without a cache. */
export async function readKeys(dynamo: Dynamo, table: string, kind: KeyKind): Promise<readonly KeyringKey[]> {
  const output = await dynamo(
    new QueryCommand({
      TableName: table,
      ConsistentRead: true,
      KeyConditionExpression: 'kind = :kind',
      ExpressionAttributeValues: { ':kind': kind },
    }),
  );
  return (output.Items ?? []) as KeyringKey[];
}

/** The maximum age of the cached list of keys, in milliseconds. */
const cacheLifetime = 30_000;

/** The minimum interval between reads for unknown key ids, in milliseconds. */
const rereadInterval = 1_000;

/** Creates a `KeyObject`, because each use of raw bytes would take five times as long. */
function keyObject(kind: KeyKind, plaintext: Uint8Array): KeyObject {
  const key = Buffer.from(plaintext);
  return kind === 'signing' ? createPrivateKey({ key, format: 'der', type: 'pkcs8' }) : createSecretKey(key);
}
