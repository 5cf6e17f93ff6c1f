import {
  GenerateDataKeyPairWithoutPlaintextCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  type KMSClient,
} from '@aws-sdk/client-kms';
import { DeleteCommand, type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { conditionalWrite } from '../../platform/dynamo.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import {
  type KeyKind,
  type KeyringKey,
  keyKinds,
  keyringContext,
  makeKeyring,
  type SigningAlgorithm,
} from '../../platform/keyring.ts';
import { planRotation, type RotationPolicy } from './rotation-plan.ts';

/** What a rotation did to one kind of key. */
export interface RotationResult {
  readonly kind: KeyKind;
  /** The generation that was made; `undefined` when none was due, or another run made it at the same moment. */
  readonly created?: number;
  /** The generations that were deleted. */
  readonly removed: readonly number[];
}

/** What key rotation stands on. */
export interface KeyRotationDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly kms: Pick<KMSClient, 'send'>;
  readonly tableName: string;
  /** The KMS key that wraps the keyring. */
  readonly keyArn: string;
  readonly algorithm: SigningAlgorithm;
  readonly policies: Readonly<Record<KeyKind, RotationPolicy>>;
  readonly now: Clock;
  readonly makeId: MakeId;
}

/** Rotates the keyring. */
export interface KeyRotation {
  /**
   * Makes the keys that are due and deletes those nothing depends on any more. Safe to run at any time, twice at once,
   * and again after dying half-way: each step is one write that only the first run gets through.
   */
  rotateKeys(kinds?: readonly KeyKind[]): Promise<readonly RotationResult[]>;
  /** Makes a key that is active at once; `revoke` deletes all others, and what they signed, authenticated or sealed with them. */
  rotateNow(kind: KeyKind, options?: { readonly revoke?: boolean }): Promise<RotationResult>;
}

/** Makes the rotation over table `Keyring`: partition `kind`, range `generation`; see platform/keyring.ts. */
export function makeKeyRotation(dependencies: KeyRotationDependencies): KeyRotation {
  const { dynamo, kms, tableName, keyArn, algorithm, policies, now, makeId } = dependencies;

  /** Key material as it is stored: no plaintext of it ever leaves KMS here. */
  const generate = async (kind: KeyKind): Promise<Pick<KeyringKey, 'wrapped' | 'algorithm' | 'publicKey'>> => {
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
  };

  /** Whether this run made the generation, and not another one at the same moment. */
  const create = async (kind: KeyKind, generation: number, activeFrom: number): Promise<boolean> => {
    const key: KeyringKey = {
      kind,
      generation,
      keyId: makeId(22),
      createdAt: now(),
      activeFrom,
      ...(await generate(kind)),
    };
    const command = new PutCommand({
      TableName: tableName,
      Item: key,
      ConditionExpression: 'attribute_not_exists(kind)',
    });
    return (await conditionalWrite(dynamo.send(command))) !== undefined;
  };

  const remove = async ({ kind, generation }: KeyringKey): Promise<number> => {
    await dynamo.send(new DeleteCommand({ TableName: tableName, Key: { kind, generation } }));
    return generation;
  };

  const list = (kind: KeyKind) => makeKeyring({ dynamo, tableName, now }).list(kind); // a fresh one: nothing cached

  const rotateKind = async (kind: KeyKind): Promise<RotationResult> => {
    const plan = planRotation(await list(kind), policies[kind], now(), kind === 'signing' ? algorithm : undefined);
    const isCreated = plan.create && (await create(kind, plan.create.generation, plan.create.activeFrom));
    const removed = await Promise.all(plan.remove.map(remove));
    return { kind, ...(plan.create && isCreated ? { created: plan.create.generation } : {}), removed };
  };

  return {
    rotateKeys: (kinds = keyKinds) => Promise.all(kinds.map(rotateKind)),

    rotateNow: async (kind, { revoke = false } = {}) => {
      const keys = await list(kind);
      const generation = (keys.at(-1)?.generation ?? 0) + 1;
      const isCreated = await create(kind, generation, now());
      const removed = revoke && isCreated ? await Promise.all(keys.map(remove)) : [];
      return { kind, ...(isCreated ? { created: generation } : {}), removed };
    },
  };
}

const keyPairSpecs = { ES256: 'ECC_NIST_P256', RS256: 'RSA_2048' } as const;
