import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { composeRotateKeys } from '../../lambdas/auth/keys/rotate-keys.composition.ts';
import { makeKeyring } from '../../lambdas/platform/keyring.ts';
import { machine, type Outside } from '../../lambdas/platform/outside.ts';
import { makeSealing } from '../../lambdas/platform/sealing.ts';
import { makeTelemetry } from '../../lambdas/platform/telemetry.ts';
import { secretBinding } from '../../lambdas/webhooks/webhook.ts';
import { aWebhook } from '../unit/delivery/builders.ts';

/** Puts the keys of a stage and a webhook into its tables. */
export async function fillTables({ dynamo, kms }: Pick<Outside, 'dynamo' | 'kms'>): Promise<void> {
  await composeRotateKeys(keyRotation, { ...machine, dynamo, kms }, makeTelemetry('rotate-keys'))();
  const sealing = makeSealing(makeKeyring({ ...machine.time, dynamo, kms, table: 'Keyring' }), machine.random);
  const sealed = await sealing.seal(secret, secretBinding(accountId, eventName));
  const createdAt = machine.time.now();
  const { sealedAuthorization: _, ...webhook } = aWebhook({
    secrets: [{ sealed, createdAt }],
    createdAt,
    updatedAt: createdAt,
  });
  await dynamo(new PutCommand({ TableName: 'Webhooks', Item: webhook }));
}

const { accountId, eventName } = aWebhook();
const secret = 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0';

const keyRotation = {
  keyringTable: 'Keyring',
  keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/test',
  signingAlgorithm: 'ES256',
} as const;
