import { createECDH, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  DecryptCommand,
  DescribeKeyCommand,
  GenerateDataKeyPairWithoutPlaintextCommand,
  GenerateDataKeyWithoutPlaintextCommand,
} from '@aws-sdk/client-kms';
import { ServiceError } from '../service-error.ts';
import { makeWrapping } from './wrapping.ts';

/**
 * Creates a stateless KMS emulator. A ciphertext contains its plaintext, encrypted under a key that is derived from the
 * master key. `bytes` supplies all randomness, except for RSA key pairs, which Node cannot derive.
 */
export function makeKms({ bytes, master = bytes(32), arnOf = name => name }: KmsParts) {
  const wrapping = makeWrapping(master, bytes);
  return { execute, send };

  /** Executes an SDK command. @throws {ServiceError} if KMS rejects it */
  function execute(command: unknown): object {
    if (command instanceof DecryptCommand) return decrypt(command.input);
    if (command instanceof DescribeKeyCommand) {
      const Arn = arnOf(command.input.KeyId ?? '');
      return { KeyMetadata: { KeyId: Arn.split('/').at(-1), Arn, KeyState: 'Enabled' } };
    }
    if (command instanceof GenerateDataKeyWithoutPlaintextCommand) {
      const { EncryptionContext, NumberOfBytes = 32 } = command.input;
      const KeyId = arnOf(command.input.KeyId ?? '');
      return { KeyId, CiphertextBlob: wrapping.wrap(KeyId, bytes(NumberOfBytes), EncryptionContext) };
    }
    if (command instanceof GenerateDataKeyPairWithoutPlaintextCommand) {
      const { EncryptionContext, KeyPairSpec } = command.input;
      const KeyId = arnOf(command.input.KeyId ?? '');
      const privateKey = KeyPairSpec === 'ECC_NIST_P256' ? ellipticKey(bytes) : rsaKey(KeyPairSpec);
      const PublicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
      const plaintext = privateKey.export({ type: 'pkcs8', format: 'der' });
      return {
        ...{ KeyId, KeyPairSpec, PublicKey },
        PrivateKeyCiphertextBlob: wrapping.wrap(KeyId, plaintext, EncryptionContext),
      };
    }
    throw new TypeError('This KMS does not support that command.');
  }

  /** Executes an SDK command asynchronously, like the SDK's client. */
  async function send(command: unknown): Promise<never> {
    return execute(command) as never;
  }

  function decrypt({ CiphertextBlob = new Uint8Array(), EncryptionContext, KeyId }: DecryptCommand['input']): object {
    const expected = KeyId === undefined ? undefined : arnOf(KeyId);
    const decrypted = wrapping.unwrap(CiphertextBlob, EncryptionContext);
    if (!decrypted) throw new ServiceError('InvalidCiphertextException', '');
    if (expected !== undefined && expected !== decrypted.keyArn) {
      throw new ServiceError('IncorrectKeyException', 'The key of the request did not encrypt this ciphertext.');
    }
    return { KeyId: arnOf(decrypted.keyArn), Plaintext: decrypted.plaintext, EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' };
  }
}

interface KmsParts {
  /** Generates random bytes. */
  readonly bytes: (length: number) => Buffer;
  /** The master key, which all other keys are derived from. @default - random bytes */
  readonly master?: Uint8Array;
  /** Returns the ARN of the key with that id or ARN, or throws if the key does not exist. @default - returns its argument */
  readonly arnOf?: (name: string) => string;
}

/** Creates a private key. Node rejects about one in 2^32 random scalars, because they exceed the order of the curve. */
function ellipticKey(bytes: KmsParts['bytes']): KeyObject {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(bytes(32));
  const point = pair.getPublicKey();
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
  const d = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()])
    .subarray(-32)
    .toString('base64url');
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d }, format: 'jwk' });
}

function rsaKey(spec = ''): KeyObject {
  const [, bits] = /^RSA_(\d+)$/.exec(spec) ?? [];
  if (bits === undefined) throw new TypeError(`This KMS does not support key pairs with the spec ${spec}.`);
  return generateKeyPairSync('rsa', { modulusLength: Number(bits) }).privateKey;
}
