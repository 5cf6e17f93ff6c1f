import { randomBytes } from 'node:crypto';
import {
  DecryptCommand,
  DescribeKeyCommand,
  GenerateDataKeyPairWithoutPlaintextCommand,
  GenerateDataKeyWithoutPlaintextCommand,
} from '@aws-sdk/client-kms';
import * as z from 'zod';
import { makeKms } from '../kms/kms.ts';
import { keyArnIn } from '../kms/wrapping.ts';
import { ServiceError } from '../service-error.ts';
import { keyArn } from './assembly/identities.ts';
import { type Emulator, type Interceptor, type Operation, startAwsJsonService } from './emulator.ts';

/** A KMS emulator. Its symmetric keys encrypt data keys and key pairs. */
export interface KeyService extends Emulator {
  /** Adds a key from the template. */
  ensureKey(keyId: string): void;
}

/** Starts a KMS emulator on a free port of 127.0.0.1. It derives all keys from the master key. */
export async function startKms(master: Uint8Array, interceptors: readonly Interceptor[] = []): Promise<KeyService> {
  const arns = new Set<string>();
  const { execute } = makeKms({ bytes: randomBytes, master, arnOf: find });
  const operations = Object.entries(commandOf).map(([name, toCommand]): [string, Operation] => {
    return [name, input => inBase64(execute(toCommand(input)))];
  });
  const service = await startAwsJsonService('kms', Object.fromEntries(operations), interceptors, 'ValidationException');
  return { ...service, ensureKey: keyId => void arns.add(keyArn(keyId)) };

  function find(name: string): string {
    const arn = arnOf(name);
    if (arns.has(arn)) return arn;
    throw new ServiceError('NotFoundException', `Key '${name}' does not exist`);
  }
}

/** Returns the ARN of the key that a request specifies, or of the key that encrypted the ciphertext. */
export function keyIn({ KeyId, CiphertextBlob }: Readonly<Record<string, unknown>>): string {
  return arnOf(typeof KeyId === 'string' ? KeyId : (keyArnIn(Buffer.from(String(CiphertextBlob), 'base64')) ?? ''));
}

function arnOf(name: string): string {
  return name.startsWith('arn:') ? name : keyArn(name);
}

function inBase64(output: object): object {
  const fields = Object.entries(output).map(([name, value]) => {
    return [name, Buffer.isBuffer(value) ? value.toString('base64') : value];
  });
  return Object.fromEntries(fields);
}

const EncryptionContext = z.record(z.string(), z.string()).optional();
const CiphertextBlob = z.base64().transform(text => Buffer.from(text, 'base64'));
const key = z.object({ KeyId: z.string() });
const dataKey = key.extend({ EncryptionContext, NumberOfBytes: z.int().min(1).max(1024) });
const keyPair = key.extend({ EncryptionContext, KeyPairSpec: z.enum(['ECC_NIST_P256', 'RSA_2048']) });
const ciphertext = z.object({ CiphertextBlob, EncryptionContext, KeyId: z.string().optional() });

/** Functions that create the SDK command for each operation. */
const commandOf: Readonly<Record<string, (input: unknown) => object>> = {
  DescribeKey: input => new DescribeKeyCommand(key.parse(input)),
  GenerateDataKeyWithoutPlaintext: input => new GenerateDataKeyWithoutPlaintextCommand(dataKey.parse(input)),
  GenerateDataKeyPairWithoutPlaintext: input => new GenerateDataKeyPairWithoutPlaintextCommand(keyPair.parse(input)),
  Decrypt: input => new DecryptCommand(ciphertext.parse(input)),
};
