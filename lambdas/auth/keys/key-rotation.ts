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
  /** The generation that was created; `undefined` when none was due, or a concurrent run created it. */
  readonly created?: number;
  /** The generations that were deleted. */
  readonly removed: readonly number[];
}

export type KeyRotation = ReturnType<typeof makeKeyRotation>;

/** The settings of a rotation. The scheduled function and the operator's command line have the same. */
export interface RotationSettings {
  /** The table `Keyring`. */
  readonly table: string;
  /** The KMS key that wraps the keys. */
  readonly keyArn: string;
  /** The algorithm of new signing keys. */
  readonly algorithm: SigningAlgorithm;
}

/** Makes the rotation over table `Keyring`: partition `kind`, range `generation`; see platform/keyring.ts. */
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
   * Creates the keys that are due and deletes those that nothing depends on any more. Idempotent: it may run at any time,
   * concurrently, and again after a crash, since each step is one write that only the first run gets through.
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
   * Creates a key that is active at once. `revoke` deletes all others: everything that they signed, authenticated or encrypted is lost.
   *
   * @throws {RevocationError} when a key was created, and not all others could be deleted.
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
    const left = keys.flatMap(key => (removed.includes(key.generation) ? [] : [key.generation]));
    throw new RevocationError(result, left, failure.reason);
  }

  function list(kind: KeyKind): Promise<readonly KeyringKey[]> {
    return readKeys(dynamo, table, kind);
  }

  /** Creates a generation. Returns whether this run created it, and not a concurrent one. */
  async function create(kind: KeyKind, generation: number, activeFrom: number): Promise<boolean> {
    const key: KeyringKey = {
      kind,
      generation,
      keyId: makeId(22),
      createdAt: now(),
      activeFrom,
      ...(await generate(kind)),
    };
    const command = new PutCommand({
      TableName: table,
      Item: key,
      ConditionExpression: 'attribute_not_exists(kind)',
    });
    return isWritten(dynamo(command), async () => (await list(kind)).some(({ keyId }) => keyId === key.keyId));
  }

  /** Generates key material as it is stored, wrapped by KMS: no plaintext of it leaves KMS here. */
  async function generate(kind: KeyKind): Promise<Pick<KeyringKey, 'wrapped' | 'algorithm' | 'publicKey'>> {
    const request = { KeyId: keyArn, EncryptionContext: keyringContext(kind) };
    if (kind === 'signing') {
      const command = new GenerateDataKeyPairWithoutPlaintextCommand({
        ...request,
        KeyPairSpec: keyPairSpecs[algorithm],
      });
      const { PrivateKeyCiphertextBlob: wrapped, PublicKey: publicKey } = await kms.send(command);
      if (!wrapped || !publicKey) throw new Error('KMS gave no key pair.');
      return { wrapped, publicKey, algorithm };
    }
    const { CiphertextBlob: wrapped } = await kms.send(
      new GenerateDataKeyWithoutPlaintextCommand({ ...request, NumberOfBytes: 32 }),
    );
    if (!wrapped) throw new Error('KMS gave no key.');
    return { wrapped };
  }

  async function remove({ kind, generation }: KeyringKey): Promise<number> {
    await dynamo(new DeleteCommand({ TableName: table, Key: { kind, generation } }));
    return generation;
  }
}

/** Thrown when a key was created that replaces all others, and some of those could not be deleted. */
export class RevocationError extends Error {
  override readonly name = 'RevocationError';
  readonly result: RotationResult;
  /** The generations that are still valid. */
  readonly left: readonly number[];

  constructor(result: RotationResult, left: readonly number[], cause: unknown) {
    super(`Not all ${result.kind} keys could be deleted.`, { cause });
    this.result = result;
    this.left = left;
  }
}

/** A key that replaces a lost one must be in use also where a function's clock is behind. In milliseconds. */
const clockDifference = 5_000;

const keyPairSpecs = { ES256: 'ECC_NIST_P256', RS256: 'RSA_2048' } as const;
