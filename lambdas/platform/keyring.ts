import { createPrivateKey, createSecretKey, type KeyObject } from 'node:crypto';
import { DecryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo, StoreParts } from './aws/dynamo.ts';
import { makeKeptCalls } from './kept-calls.ts';
import type { After } from './timer.ts';

export const keyKinds = ['signing', 'mac', 'encryption'] as const;

/**
 * The purpose of a key. Each kind is wrapped under its own KMS encryption context (`purpose`), so that a function can be allowed
 * to open one kind and not the others.
 */
export type KeyKind = (typeof keyKinds)[number];

/** Algorithms that access tokens can be signed with (RFC 7518 section 3.1). */
export type SigningAlgorithm = 'ES256' | 'RS256';

/**
 * One key of the keyring. Table `Keyring`: partition `kind`, range `generation` (1, 2, …).
 * Its state follows from the clock and is not stored: *next* until `activeFrom`, *active* until a later key's `activeFrom`,
 * *retiring* after that, until the rotation deletes it.
 */
export interface KeyringKey {
  readonly kind: KeyKind;
  readonly generation: number;
  /** Random and unique: the `kid` of tokens, the `keyId` of refresh tokens and encrypted values. */
  readonly keyId: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; first use. Until then the key is only published. */
  readonly activeFrom: number;
  /** The key under KMS: PKCS #8 DER of the private half for `signing`, 32 bytes for the others. */
  readonly wrapped: Uint8Array;
  /** `signing` only. */
  readonly algorithm?: SigningAlgorithm;
  /** `signing` only: SubjectPublicKeyInfo DER. */
  readonly publicKey?: Uint8Array;
}

/** Thrown when the keyring has no usable key: the deployment has not created one yet, or a named one is gone. */
export class KeyNotFoundError extends Error {
  override readonly name = 'KeyNotFoundError';
  constructor(kind: KeyKind) {
    super(`The keyring has no usable ${kind} key. The deployment creates them: has its key trigger run?`);
  }
}

export type Keyring = ReturnType<typeof makeKeyring>;

/** Returns the keyring's encryption context in KMS: policies grant `kms:Decrypt` on exactly this. */
export function keyringContext(kind: KeyKind): Record<string, string> {
  return { purpose: kind };
}

/** Makes a keyring over the `Keyring` table, cached for at most 30 s; one per function instance. */
export function makeKeyring({
  dynamo,
  kms,
  table,
  now,
  after,
}: StoreParts & {
  /** May be left out where keys are only listed. */
  readonly kms?: Pick<KMSClient, 'send'>;
  readonly after: After;
}) {
  const lists = makeKeptCalls<KeyKind, readonly KeyringKey[]>({ now, after });
  const lookedUpAt = new Map<KeyKind, number>();
  const opened = makeKeptCalls<string, KeyObject>({ now, after });

  return { list, active, find, open, prefetch };

  /** Lists all keys of a kind, oldest first. */
  function list(kind: KeyKind): Promise<readonly KeyringKey[]> {
    return lists.get(kind, cacheLifetime, () => readKeys(dynamo, table, kind));
  }

  /** Returns the key to sign, authenticate or encrypt with now. @throws {KeyNotFoundError} */
  async function active(kind: KeyKind): Promise<KeyringKey> {
    return latestOf(kind, await list(kind));
  }

  /** Finds the key of an id, also one published a moment ago; `undefined` if there is none. */
  async function find(kind: KeyKind, keyId: string): Promise<KeyringKey | undefined> {
    const isWanted = (key: KeyringKey) => key.keyId === keyId;
    const known = (await list(kind)).find(isWanted);
    if (known) return known;
    const isPauseOver = now() - (lookedUpAt.get(kind) ?? Number.NEGATIVE_INFINITY) >= lookupPause;
    if (isPauseOver) lookedUpAt.set(kind, now());
    const keys = lists.get(kind, isPauseOver ? 0 : cacheLifetime, () => readKeys(dynamo, table, kind)); // during the pause the last result stands
    return (await keys).find(isWanted);
  }

  /**
   * Opens a key; the private half for `signing`. It is unwrapped by `kms:Decrypt` when it is first opened, and cached as long
   * as this keyring lives. Infrastructure allows that for each kind of key (`mayUse`).
   */
  function open(key: KeyringKey): Promise<KeyObject> {
    return opened.get(key.keyId, Number.POSITIVE_INFINITY, () => unwrap(key));
  }

  /**
   * Begins to open the active key of each kind, while the function loads. Nobody waits for that, and a failure means nothing: there
   * may be no key yet. Then the first request opens it.
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
    lists.forget(kind); // the deployment may create the first key any moment
    throw new KeyNotFoundError(kind);
  }

  function unwrap({ kind, wrapped }: KeyringKey): Promise<KeyObject> {
    if (!kms) throw new KeyNotFoundError(kind);
    return kms
      .send(new DecryptCommand({ CiphertextBlob: wrapped, EncryptionContext: keyringContext(kind) }))
      .then(({ Plaintext: plaintext }) => {
        if (!plaintext?.length) throw new KeyNotFoundError(kind); // an empty key would be known to anybody
        return keyObject(kind, plaintext);
      });
  }
}

/** Reads all keys of a kind, oldest first, past any cache. */
export async function readKeys(dynamo: Dynamo, table: string, kind: KeyKind): Promise<readonly KeyringKey[]> {
  const answer = await dynamo(
    new QueryCommand({
      TableName: table,
      ConsistentRead: true,
      KeyConditionExpression: 'kind = :kind',
      ExpressionAttributeValues: { ':kind': kind },
    }),
  );
  return (answer.Items ?? []) as KeyringKey[];
}

/** The age that the cached keyring may reach, in milliseconds. */
const cacheLifetime = 30_000;

/** Unknown key ids lead to a new read at most this often, in milliseconds. */
const lookupPause = 1_000;

/** A `KeyObject` is made once: every use of raw bytes costs five times as much. */
function keyObject(kind: KeyKind, plaintext: Uint8Array): KeyObject {
  const key = Buffer.from(plaintext);
  return kind === 'signing' ? createPrivateKey({ key, format: 'der', type: 'pkcs8' }) : createSecretKey(key);
}
