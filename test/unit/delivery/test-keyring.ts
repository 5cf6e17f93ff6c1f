import { createCipheriv, randomBytes } from 'node:crypto';
import { PutCommand, type QueryCommand } from '@aws-sdk/lib-dynamodb';
import { makeKms } from '@emissor/cloud/kms';
import { makeKeyRotation } from '../../../lambdas/auth/keys/key-rotation.ts';
import type { Dynamo, Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { randomId } from '../../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { systemRandom } from '../../../lambdas/platform/random.ts';
import { makeSealing } from '../../../lambdas/platform/sealing.ts';
import { systemTime } from '../../../lambdas/platform/timer.ts';

/*
 * A keyring of real keys that lives in this process, for tests that need what is sealed or signed and are about something else.
 */

const keys: Item[] = [];

/** Opens the keys. */
export const kms = makeKms({ bytes: randomBytes });

/** Answers what is asked of table `Keyring`. */
export const keyringDynamo = (async (command: PutCommand | QueryCommand) => {
  if (command instanceof PutCommand) {
    keys.push({ ...command.input.Item });
    return {};
  }
  const wanted = command.input.ExpressionAttributeValues?.[':kind'];
  return { Items: keys.filter(({ kind }) => kind === wanted) };
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
for (const kind of ['signing', 'sealing'] as const) await rotation.rotateNow(kind);

/** The keyring as functions read it. */
export const keyring = makeKeyring({ ...systemTime, dynamo: keyringDynamo, kms, table: 'Keyring' });

/** Seals by it, and opens. */
export const sealing = makeSealing(keyring, systemRandom);

const active = await keyring.active('sealing');
const sealingKey = await keyring.open(active);

/** Seals at once what `sealing` opens; the same text for the same plaintext and binding, so that records can be compared. */
export function sealAlike(plaintext: string, binding: string): string {
  const nonce = Buffer.alloc(12);
  const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce).setAAD(Buffer.from(binding));
  const sealed = Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${active.keyId}.${sealed.toString('base64url')}`;
}
