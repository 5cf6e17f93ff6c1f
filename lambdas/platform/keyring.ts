import { createPrivateKey, createSecretKey, type KeyObject } from 'node:crypto';
import { DecryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import { type DynamoDBDocumentClient, QueryCommand } from './aws/documents.ts';
import type { Clock } from './clock.ts';

/** The kinds of keys. */
export const keyKinds = ['signing', 'mac', 'sealing'] as const;

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
  /** Random and unique: the `kid` of tokens, the `keyId` of refresh tokens and sealed values. */
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

/** Read access to the keyring. */
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
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  /** May be left out where keys are only listed. */
  readonly kms?: Pick<KMSClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
}) {
  const cached = new Map<KeyKind, { readAt: number; keys: Promise<readonly KeyringKey[]> }>();
  const lookedUpAt = new Map<KeyKind, number>();
  const opened = new Map<string, Promise<KeyObject>>();

  return { list, active, find, open };

  /** Lists all keys of a kind, oldest first. */
  function list(kind: KeyKind): Promise<readonly KeyringKey[]> {
    return keysOf(kind, cacheLifetime);
  }

  /** Returns the key to sign, authenticate or seal with now. @throws {KeyNotFoundError} */
  async function active(kind: KeyKind): Promise<KeyringKey> {
    const moment = now();
    const latest = (await list(kind)).filter(key => key.activeFrom <= moment).at(-1);
    if (!latest) {
      cached.delete(kind); // the deployment may create the first key any moment
      throw new KeyNotFoundError(kind);
    }
    return latest;
  }

  /** Finds the key of an id, also one published a moment ago; `undefined` if there is none. */
  async function find(kind: KeyKind, keyId: string): Promise<KeyringKey | undefined> {
    const isWanted = (key: KeyringKey) => key.keyId === keyId;
    const known = (await list(kind)).find(isWanted);
    if (known) return known;
    const isPauseOver = now() - (lookedUpAt.get(kind) ?? Number.NEGATIVE_INFINITY) >= lookupPause;
    if (isPauseOver) lookedUpAt.set(kind, now());
    return (await keysOf(kind, isPauseOver ? 0 : cacheLifetime)).find(isWanted); // during the pause the last result stands
  }

  /**
   * Opens a key; the private half for `signing`. It is unwrapped by `kms:Decrypt` when it is first opened, and cached as long
   * as this keyring lives. Infrastructure allows that for each kind of key (`mayUse`).
   */
  function open(key: KeyringKey): Promise<KeyObject> {
    const known = opened.get(key.keyId);
    if (known) return known;
    if (!kms) throw new KeyNotFoundError(key.kind);
    const object = kms
      .send(new DecryptCommand({ CiphertextBlob: key.wrapped, EncryptionContext: keyringContext(key.kind) }))
      .then(({ Plaintext: plaintext }) => {
        if (!plaintext?.length) throw new KeyNotFoundError(key.kind); // an empty key would be known to anybody
        return keyObject(key.kind, plaintext);
      });
    opened.set(key.keyId, object);
    object.catch(() => opened.delete(key.keyId));
    return object;
  }

  /** Returns the keys of a kind, from the cache if that is younger than `maxAge` (milliseconds). */
  function keysOf(kind: KeyKind, maxAge: number): Promise<readonly KeyringKey[]> {
    const entry = cached.get(kind);
    if (entry && now() - entry.readAt < maxAge) return entry.keys;
    const keys = readKeys(kind);
    cached.set(kind, { readAt: now(), keys });
    keys.catch(() => cached.delete(kind)); // a failed read is not cached
    return keys;
  }

  async function readKeys(kind: KeyKind): Promise<readonly KeyringKey[]> {
    const answer = await dynamo.send(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'kind = :kind',
        ExpressionAttributeValues: { ':kind': kind },
      }),
    );
    return (answer.Items ?? []) as KeyringKey[];
  }
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
