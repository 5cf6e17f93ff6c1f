import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import * as z from 'zod';
import { keyArn } from '../assembly/identities.ts';
import type { Emulator } from '../emulator.ts';
import { type Interceptor, type Operation, ServiceError, startAwsJsonService } from '../emulator.ts';
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
  const service = await startAwsJsonService(
    'kms',
    operations,
    interceptors,
    () => new ServiceError('KMSInternalException', 'See the terminal.', 500),
  );
  return { ...service, ensureKey: keyId => void keys.add(keyId) };
}

/** Makes the operations that the functions use. */
function makeOperations(wrapping: Wrapping, hasKey: (keyId: string) => boolean): Readonly<Record<string, Operation>> {
  const find = (name: string): string => {
    const keyId = name.replace(/^arn:aws:kms:[^:]*:[^:]*:key\//, '');
    if (hasKey(keyId)) return keyId;
    throw new ServiceError('NotFoundException', `Key '${name}' does not exist`);
  };

  const wrapDataKey = (input: unknown) => {
    const { KeyId, EncryptionContext, KeySpec, NumberOfBytes } = read(dataKeyInput, input);
    if ((KeySpec === undefined) === (NumberOfBytes === undefined)) {
      throw new ServiceError('ValidationException', 'Please specify either number of bytes or key spec.');
    }
    const keyId = find(KeyId);
    const plaintext = randomBytes(NumberOfBytes ?? (KeySpec === 'AES_128' ? 16 : 32));
    const wrapped = wrapping.wrap(keyId, plaintext, EncryptionContext).toString('base64');
    return { plaintext: plaintext.toString('base64'), output: { CiphertextBlob: wrapped, KeyId: keyArn(keyId) } };
  };

  return {
    GenerateDataKey: async input => {
      const { plaintext, output } = wrapDataKey(input);
      return { ...output, Plaintext: plaintext };
    },
    GenerateDataKeyWithoutPlaintext: async input => wrapDataKey(input).output,
    GenerateDataKeyPairWithoutPlaintext: async input => {
      const { KeyId, EncryptionContext, KeyPairSpec } = read(keyPairInput, input);
      const keyId = find(KeyId);
      const { publicKey, privateKey } = await freshPair(KeyPairSpec);
      return {
        PrivateKeyCiphertextBlob: wrapping.wrap(keyId, privateKey, EncryptionContext).toString('base64'),
        PublicKey: publicKey.toString('base64'),
        KeyPairSpec,
        KeyId: keyArn(keyId),
      };
    },
    Encrypt: async input => {
      const { KeyId, EncryptionContext, Plaintext } = read(encryptInput, input);
      if (Plaintext.length < 1 || Plaintext.length > 4096) {
        throw new ServiceError('ValidationException', 'Plaintext must be 1 to 4096 bytes.');
      }
      const keyId = find(KeyId);
      return {
        CiphertextBlob: wrapping.wrap(keyId, Plaintext, EncryptionContext).toString('base64'),
        KeyId: keyArn(keyId),
        EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
      };
    },
    Decrypt: async input => {
      const { CiphertextBlob, EncryptionContext, KeyId } = read(decryptInput, input);
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

function read<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const fields = result.error.issues.map(issue => issue.path.join('.'));
  throw new ServiceError(
    'ValidationException',
    `These fields are missing, malformed or not supported locally: ${fields.join(', ')}`,
  );
}

const context = z.record(z.string(), z.string()).default({});

const keyInput = z.object({ KeyId: z.string(), EncryptionContext: context });
const dataKeyInput = keyInput.extend({
  KeySpec: z.enum(['AES_128', 'AES_256']).optional(),
  NumberOfBytes: z.int().min(1).max(1024).optional(),
});
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

const encryptInput = keyInput.extend({ Plaintext: base64 });
const decryptInput = z.object({ CiphertextBlob: base64, EncryptionContext: context, KeyId: z.string().optional() });

const makePair = promisify(generateKeyPair);
