import { createCipheriv, createDecipheriv, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { KMSClient } from '@aws-sdk/client-kms';

/** A KMS that lives in this process, and how often each of its operations was called. */
export interface FakeKms {
  readonly client: Pick<KMSClient, 'send'>;
  /** Calls so far, by command name, such as `DecryptCommand`. */
  readonly calls: ReadonlyMap<string, number>;
  /** From now on the operation (a command's name) fails with this error, or one of this name; `undefined` mends it. */
  fail(command: string, error: Error | string | undefined): void;
}

/**
 * Stands in for KMS where keys are made and opened: real encryption, bound to the encryption context as KMS binds it
 * (another context, or altered bytes, and `Decrypt` refuses).
 */
export function makeFakeKms(): FakeKms {
  const masterKey = randomBytes(32);
  const calls = new Map<string, number>();
  const failures = new Map<string, Error | string>();

  const contextOf = (command: KmsCommand) => Buffer.from(JSON.stringify(command.input.EncryptionContext ?? {}));
  const wrap = (plaintext: Uint8Array, context: Buffer): Uint8Array => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(context);
    return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  };
  const unwrap = (wrapped: Uint8Array, context: Buffer): Uint8Array => {
    const bytes = Buffer.from(wrapped);
    try {
      const decipher = createDecipheriv('aes-256-gcm', masterKey, bytes.subarray(0, 12))
        .setAAD(context)
        .setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
    } catch {
      throw named('InvalidCiphertextException');
    }
  };
  const makePair = (spec: string | undefined) => {
    const spki = { type: 'spki', format: 'der' } as const;
    const pkcs8 = { type: 'pkcs8', format: 'der' } as const;
    if (spec === 'ECC_NIST_P256') {
      return generateKeyPairSync('ec', { namedCurve: 'P-256', publicKeyEncoding: spki, privateKeyEncoding: pkcs8 });
    }
    if (spec === 'RSA_2048') {
      return generateKeyPairSync('rsa', { modulusLength: 2048, publicKeyEncoding: spki, privateKeyEncoding: pkcs8 });
    }
    throw named('ValidationException');
  };

  const answer = (command: KmsCommand): object => {
    const context = contextOf(command);
    switch (command.constructor.name) {
      case 'DecryptCommand':
        return { Plaintext: unwrap(command.input.CiphertextBlob ?? new Uint8Array(), context) };
      case 'GenerateDataKeyWithoutPlaintextCommand':
        return { CiphertextBlob: wrap(randomBytes(command.input.NumberOfBytes ?? 32), context) };
      case 'GenerateDataKeyPairWithoutPlaintextCommand': {
        const { publicKey, privateKey } = makePair(command.input.KeyPairSpec);
        return { PrivateKeyCiphertextBlob: wrap(privateKey, context), PublicKey: new Uint8Array(publicKey) };
      }
      default:
        throw named('UnsupportedOperationException');
    }
  };

  const send = async (command: KmsCommand): Promise<object> => {
    const { name } = command.constructor;
    calls.set(name, (calls.get(name) ?? 0) + 1);
    const failure = failures.get(name);
    if (failure !== undefined) throw typeof failure === 'string' ? named(failure) : failure;
    return answer(command);
  };
  return {
    client: { send } as unknown as Pick<KMSClient, 'send'>,
    calls,
    fail: (command, error) => {
      if (error === undefined) failures.delete(command);
      else failures.set(command, error);
    },
  };
}

interface KmsCommand {
  readonly constructor: { readonly name: string };
  readonly input: {
    readonly CiphertextBlob?: Uint8Array;
    readonly EncryptionContext?: Record<string, string>;
    readonly KeyPairSpec?: string;
    readonly NumberOfBytes?: number;
  };
}

function named(name: string): Error {
  return Object.assign(new Error(`The fake KMS answers ${name}.`), { name });
}
