import { createCipheriv, randomBytes } from 'node:crypto';
import { PutCommand, type QueryCommand } from '@aws-sdk/lib-dynamodb';
import { makeKms } from '@emissor/cloud/kms';
import { makeKeyRotation } from '../../../lambdas/auth/keys/key-rotation.ts';
import type { Dynamo, Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { makeEncryption } from '../../../lambdas/platform/encryption.ts';
import { randomId } from '../../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { systemRandom } from '../../../lambdas/platform/random.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';

/* A keyring with real keys in this process, for tests that need encrypted or signed values but do not test encryption. */

const keys: Item[] = [];

export const kms = makeKms({ bytes: randomBytes });

export const keyringDynamo = (async (command: PutCommand | QueryCommand) => {
  if (command instanceof PutCommand) {
    keys.push({ ...command.input.Item });
    return {};
  }
  const keyKind = command.input.ExpressionAttributeValues?.[':kind'];
  return { Items: keys.filter(({ kind }) => kind === keyKind) };
}) as unknown as Dynamo;

const rotation = makeKeyRotation({
  dynamo: keyringDynamo,
  kms,
  table: 'Keyring',
  keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/test',
  algorithm: 'ES256',
  now: () => 0,
  makeId: randomId,
});
for (const kind of ['signing', 'encryption'] as const) await rotation.rotateNow(kind);

export const keyring = makeKeyring({ ...systemTime, dynamo: keyringDynamo, kms, table: 'Keyring' });

export const encryption = makeEncryption(keyring, systemRandom);

const active = await keyring.active('encryption');
const encryptionKey = await keyring.open(active);

/** Encrypts a value synchronously and deterministically, so records can be compared. `encryption` can decrypt it. */
export function encryptAlike(plaintext: string, binding: string): string {
  const nonce = Buffer.alloc(12);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey, nonce).setAAD(Buffer.from(binding));
  const encrypted = Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${active.keyId}.${encrypted.toString('base64url')}`;
}
