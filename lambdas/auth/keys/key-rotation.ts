import {
  GenerateDataKeyPairWithoutPlaintextCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  type KMSClient,
} from '@aws-sdk/client-kms';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Dynamo, isWritten } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import {
  type KeyKind,
  type KeyringKey,
  keyKinds,
  keyringContext,
  readKeys,
  type SigningAlgorithm,
} from '../../platform/keyring.ts';
import { planRotation } from './rotation-plan.ts';

export interface RotationResult {
  readonly kind: KeyKind;
  /** The created generation, or `undefined` if no key was due or a concurrent run created the key. */
  readonly created?: number;
  /** The deleted generations. */
  readonly removed: readonly number[];
}

export type KeyRotation = ReturnType<typeof makeKeyRotation>;

/** The settings that the scheduled function and `ops keys rotate` share. */
export interface RotationSettings {
  readonly table: string;
  /** The KMS key that wraps the keys. */
  readonly keyArn: string;
  /** The algorithm of new signing keys. */
  readonly algorithm: SigningAlgorithm;
}

/** Creates the key rotation, which writes to the table `Keyring` (see `platform/keyring.ts`). */
export function makeKeyRotation({
  dynamo,
  kms,
  table,
  keyArn,
  algorithm,
  now,
  makeId,
}: RotationSettings & {
  readonly dynamo: Dynamo;
  readonly kms: Pick<KMSClient, 'send'>;
  readonly now: Clock;
  readonly makeId: MakeId;
}) {
  return { rotateKeys, rotateNow };

  /**
   * Creates the keys that are due and deletes unneeded ones. Concurrent and repeated runs are safe, because each creation is a conditional
   * write and each deletion is idempotent.
   */
  function rotateKeys(kinds: readonly KeyKind[] = keyKinds): Promise<readonly RotationResult[]> {
    return Promise.all(kinds.map(rotateKind));
  }

  async function rotateKind(kind: KeyKind): Promise<RotationResult> {
    const plan = planRotation(kind, await list(kind), now(), kind === 'signing' ? algorithm : undefined);
    const isCreated = plan.create && (await create(kind, plan.create.generation, plan.create.activeFrom));
    const removed = await Promise.all(plan.remove.map(remove));
    return { kind, ...(plan.create && isCreated ? { created: plan.create.generation } : {}), removed };
  }

  /**
   * Creates a key that is active immediately. If `revoke` is true, deletes all other keys, which invalidates everything that they signed,
   * authenticated or encrypted.
   *
   * @throws {RevocationError} if it created a key but could not delete all others.
   */
  async function rotateNow(
    kind: KeyKind,
    { revoke = false }: { readonly revoke?: boolean } = {},
  ): Promise<RotationResult> {
    const keys = await list(kind);
    const generation = (keys.at(-1)?.generation ?? 0) + 1;
    const isCreated = await create(kind, generation, now() - clockDifference);
    const removals = await Promise.allSettled(revoke && isCreated ? keys.map(remove) : []);
    const removed = removals.flatMap(removal => (removal.status === 'fulfilled' ? [removal.value] : []));
    const result = { kind, ...(isCreated ? { created: generation } : {}), removed };
    const failure = removals.find(removal => removal.status === 'rejected');
    if (!failure) return result;
    const remaining = keys.flatMap(key => (removed.includes(key.generation) ? [] : [key.generation]));
    throw new RevocationError(result, remaining, failure.reason);
  }

  function list(kind: KeyKind): Promise<readonly KeyringKey[]> {
    return readKeys(dynamo, table, kind);
  }

  /** Creates a key. Returns false if a concurrent run created this generation. */
  async function create(kind: KeyKind, generation: number, activeFrom: number): Promise<boolean> {
    const key: KeyringKey = {
      kind,
      generation,
      keyId: makeId(22),
      createdAt: now(),
      activeFrom,
      ...(await generate(kind)),
    };
    const command = new PutCommand({ TableName: table, Item: key, ConditionExpression: 'attribute_not_exists(kind)' });
    return isWritten(dynamo(command), async () => (await list(kind)).some(({ keyId }) => keyId === key.keyId));
  }

  /** Generates wrapped key material for storage. The plaintext never leaves KMS. */
  async function generate(kind: KeyKind): Promise<Pick<KeyringKey, 'wrapped' | 'algorithm' | 'publicKey'>> {
    const request = { KeyId: keyArn, EncryptionContext: keyringContext(kind) };
    if (kind === 'signing') {
      const command = new GenerateDataKeyPairWithoutPlaintextCommand({
        ...request,
        KeyPairSpec: keyPairSpecs[algorithm],
      });
      const { PrivateKeyCiphertextBlob: wrapped, PublicKey: publicKey } = await kms.send(command);
      if (!wrapped || !publicKey) throw new Error('KMS returned no key pair.');
      return { wrapped, publicKey, algorithm };
    }
    const { CiphertextBlob: wrapped } = await kms.send(
      new GenerateDataKeyWithoutPlaintextCommand({ ...request, NumberOfBytes: 32 }),
    );
    if (!wrapped) throw new Error('KMS returned no key.');
    return { wrapped };
  }

  async function remove({ kind, generation }: KeyringKey): Promise<number> {
    await dynamo(new DeleteCommand({ TableName: table, Key: { kind, generation } }));
    return generation;
  }
}

/** Thrown if a revocation created a key but could not delete all others. */
export class RevocationError extends Error {
  override readonly name = 'RevocationError';
  readonly result: RotationResult;
  /** The generations that are still valid. */
  readonly remaining: readonly number[];

  constructor(result: RotationResult, remaining: readonly number[], cause: unknown) {
    super(`Could not delete all replaced ${result.kind} keys.`, { cause });
    this.result = result;
    this.remaining = remaining;
  }
}

/** The maximum clock difference in milliseconds. A new key must be active immediately even for a function with a slow clock. */
const clockDifference = 5_000;

const keyPairSpecs = { ES256: 'ECC_NIST_P256', RS256: 'RSA_2048' } as const;
