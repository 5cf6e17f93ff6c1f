import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import * as z from 'zod';
import { keyArn } from '../assembly/identities.ts';
import { keyIdIn, type Wrapping } from './wrapping.ts';

/** An error as KMS names it. */
export class KmsError extends Error {
  override readonly name: string;
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** One KMS operation: its JSON input to its JSON output. */
export type KmsOperation = (input: unknown) => Promise<Record<string, unknown>>;

/** ARN of the key that a request is about: the one it names, or the one its ciphertext says it was made with. */
export function keyIn({ KeyId, CiphertextBlob }: Readonly<Record<string, unknown>>): string {
  const named = typeof KeyId === 'string' ? KeyId : keyIdIn(Buffer.from(String(CiphertextBlob), 'base64'));
  return named.startsWith('arn:') ? named : keyArn(named);
}

/** What the KMS stand-in stands on. */
export interface KmsDependencies {
  readonly wrapping: Wrapping;
  /** Whether the template has a key of that id. */
  readonly hasKey: (keyId: string) => boolean;
}

/** The operations that this service uses, as KMS has them: symmetric keys that wrap data keys and key pairs. */
export function makeKmsOperations({ wrapping, hasKey }: KmsDependencies): Readonly<Record<string, KmsOperation>> {
  const find = (name: string): string => {
    const keyId = name.replace(/^arn:aws:kms:[^:]*:[^:]*:key\//, '');
    if (hasKey(keyId)) return keyId;
    throw new KmsError('NotFoundException', `Key '${name}' does not exist`);
  };

  const wrapDataKey = (input: unknown) => {
    const { KeyId, EncryptionContext, KeySpec, NumberOfBytes } = read(dataKeyInput, input);
    if ((KeySpec === undefined) === (NumberOfBytes === undefined)) {
      throw new KmsError('ValidationException', 'Please specify either number of bytes or key spec.');
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
        throw new KmsError('ValidationException', 'Plaintext must be 1 to 4096 bytes.');
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
      if (!opened) throw new KmsError('InvalidCiphertextException', '');
      if (expected !== undefined && expected !== opened.keyId) {
        throw new KmsError(
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
  throw new KmsError(
    'ValidationException',
    `These fields are missing, malformed or not known here: ${fields.join(', ')}`,
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
