import { createECDH, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  DecryptCommand,
  DescribeKeyCommand,
  GenerateDataKeyPairWithoutPlaintextCommand,
  GenerateDataKeyWithoutPlaintextCommand,
} from '@aws-sdk/client-kms';
import type { SeededRandom } from './seeded-random.ts';
import { ServiceError } from './service-error.ts';

/**
 * Makes KMS. What it wraps it keeps, and the wrapped text names that: it opens only under the encryption context that it was made
 * with. Data keys and P-256 pairs come from the seed; RSA pairs do not, since Node makes none from given chance.
 */
export function makeKms(random: Pick<SeededRandom, 'bytes'>) {
  const wrapped = new Map<string, Wrapped>();
  return { execute };

  /** Executes a command of the SDK. @throws {ServiceError} as KMS refuses it. */
  function execute(command: unknown): object {
    if (command instanceof DecryptCommand) return decrypt(command.input);
    if (command instanceof DescribeKeyCommand) return { KeyMetadata: { ...command.input, KeyState: 'Enabled' } };
    if (command instanceof GenerateDataKeyWithoutPlaintextCommand) {
      const { KeyId, NumberOfBytes = 32 } = command.input;
      return { KeyId, CiphertextBlob: wrap(random.bytes(NumberOfBytes), command.input) };
    }
    if (command instanceof GenerateDataKeyPairWithoutPlaintextCommand) {
      const { KeyId, KeyPairSpec } = command.input;
      const privateKey = KeyPairSpec === 'ECC_NIST_P256' ? ellipticKey(random) : rsaKey(KeyPairSpec);
      const PublicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
      const plaintext = privateKey.export({ type: 'pkcs8', format: 'der' });
      return { KeyId, KeyPairSpec, PublicKey, PrivateKeyCiphertextBlob: wrap(plaintext, command.input) };
    }
    throw new TypeError('This virtual KMS does not know that command.');
  }

  function decrypt({ CiphertextBlob = new Uint8Array(), EncryptionContext, KeyId }: DecryptCommand['input']): object {
    const found = wrapped.get(Buffer.from(CiphertextBlob).toString('base64'));
    if (found?.context !== contextOf(EncryptionContext)) throw new ServiceError('InvalidCiphertextException', '');
    if (KeyId !== undefined && KeyId !== found.keyId) {
      throw new ServiceError('IncorrectKeyException', 'That key did not encrypt this.');
    }
    return { KeyId: found.keyId, Plaintext: Buffer.from(found.plaintext) };
  }

  function wrap(plaintext: Buffer, { KeyId: keyId = '', EncryptionContext }: WrapInput): Buffer {
    const blob = random.bytes(64);
    wrapped.set(blob.toString('base64'), { keyId, plaintext, context: contextOf(EncryptionContext) });
    return blob;
  }
}

type WrapInput = GenerateDataKeyWithoutPlaintextCommand['input'] | GenerateDataKeyPairWithoutPlaintextCommand['input'];

interface Wrapped {
  readonly keyId: string;
  readonly plaintext: Buffer;
  readonly context: string;
}

function contextOf(context: Record<string, string> = {}): string {
  return JSON.stringify(Object.entries(context).sort());
}

/** One in 2^32 draws lies over the order of the curve, and Node refuses it. */
function ellipticKey(random: Pick<SeededRandom, 'bytes'>): KeyObject {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(random.bytes(32));
  const point = pair.getPublicKey();
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
  const d = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()])
    .subarray(-32)
    .toString('base64url');
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d }, format: 'jwk' });
}

function rsaKey(spec = ''): KeyObject {
  const [, bits] = /^RSA_(\d+)$/.exec(spec) ?? [];
  if (bits === undefined) throw new TypeError(`This virtual KMS does not know key pairs of ${spec}.`);
  return generateKeyPairSync('rsa', { modulusLength: Number(bits) }).privateKey;
}
