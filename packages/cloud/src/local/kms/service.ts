import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import * as z from 'zod';
import { keyArn } from '../assembly/identities.ts';
import { type Emulator, type Interceptor, type Operation, ServiceError, startAwsJsonService } from '../emulator.ts';
import { makeWrapping, type Wrapping } from './wrapping.ts';

/** Emulates KMS: symmetric keys that encrypt data keys and key pairs. */
export interface KeyService extends Emulator {
  /** Makes a key of the template known. */
  ensureKey(keyId: string): void;
}

/** Starts the KMS emulator on a free port of 127.0.0.1. */
export async function startKms(master: Uint8Array, interceptors: readonly Interceptor[] = []): Promise<KeyService> {
  const keys = new Set<string>();
  const operations = makeOperations(makeWrapping(master), keyId => keys.has(keyId));
  const service = await startAwsJsonService('kms', operations, interceptors, 'ValidationException');
  return { ...service, ensureKey: keyId => void keys.add(keyId) };
}

/** Makes the operations that the functions use. */
function makeOperations(wrapping: Wrapping, hasKey: (keyId: string) => boolean): Readonly<Record<string, Operation>> {
  const find = (name: string): string => {
    const keyId = name.replace(/^arn:aws:kms:[^:]*:[^:]*:key\//, '');
    if (hasKey(keyId)) return keyId;
    throw new ServiceError('NotFoundException', `Key '${name}' does not exist`);
  };

  return {
    DescribeKey: input => {
      const keyId = find(describeInput.parse(input).KeyId);
      return { KeyMetadata: { KeyId: keyId, Arn: keyArn(keyId), KeyState: 'Enabled' } };
    },
    GenerateDataKeyWithoutPlaintext: input => {
      const { KeyId, EncryptionContext, NumberOfBytes } = dataKeyInput.parse(input);
      const keyId = find(KeyId);
      const ciphertext = wrapping.wrap(keyId, randomBytes(NumberOfBytes), EncryptionContext);
      return { CiphertextBlob: ciphertext.toString('base64'), KeyId: keyArn(keyId) };
    },
    GenerateDataKeyPairWithoutPlaintext: async input => {
      const { KeyId, EncryptionContext, KeyPairSpec } = keyPairInput.parse(input);
      const keyId = find(KeyId);
      const { publicKey, privateKey } = await freshPair(KeyPairSpec);
      return {
        PrivateKeyCiphertextBlob: wrapping.wrap(keyId, privateKey, EncryptionContext).toString('base64'),
        PublicKey: publicKey.toString('base64'),
        KeyPairSpec,
        KeyId: keyArn(keyId),
      };
    },
    Decrypt: input => {
      const { CiphertextBlob, EncryptionContext, KeyId } = decryptInput.parse(input);
      const expected = KeyId === undefined ? undefined : find(KeyId);
      const opened = wrapping.unwrap(CiphertextBlob, EncryptionContext);
      if (!opened) throw new ServiceError('InvalidCiphertextException', '');
      if (expected !== undefined && expected !== opened.keyId) {
        throw new ServiceError(
          'IncorrectKeyException',
          'The key ID in the request does not identify a CMK that can perform this operation.',
        );
      }
      return {
        Plaintext: opened.plaintext.toString('base64'),
        KeyId: keyArn(find(opened.keyId)),
        EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
      };
    },
  };
}

const context = z.record(z.string(), z.string()).default({});

const keyInput = z.object({ KeyId: z.string(), EncryptionContext: context });
const describeInput = z.object({ KeyId: z.string() });

const dataKeyInput = keyInput.extend({ NumberOfBytes: z.int().min(1).max(1024) });
const keyPairInput = keyInput.extend({ KeyPairSpec: z.enum(['ECC_NIST_P256', 'RSA_2048']) });

async function freshPair(spec: z.output<typeof keyPairInput>['KeyPairSpec']) {
  const { publicKey, privateKey } =
    spec === 'RSA_2048'
      ? await makePair('rsa', { modulusLength: 2048 })
      : await makePair('ec', { namedCurve: 'P-256' });
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }),
  };
}

const base64 = z.base64().transform(text => Buffer.from(text, 'base64'));

const decryptInput = z.object({ CiphertextBlob: base64, EncryptionContext: context, KeyId: z.string().optional() });

const makePair = promisify(generateKeyPair);
