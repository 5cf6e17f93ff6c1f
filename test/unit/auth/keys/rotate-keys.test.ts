import { randomBytes } from 'node:crypto';
import { makeKms } from '@emissor/cloud/kms';
import { expect, it, vi } from 'vitest';
import { composeRotateKeys } from '../../../../lambdas/auth/keys/rotate-keys.composition.ts';
import { systemRuntime } from '../../../../lambdas/platform/runtime.ts';
import { makeTelemetry } from '../../../../lambdas/platform/telemetry.ts';
import { startDatabase } from '../../../support/database/database.ts';

// Tests that a rotation counts new keys only if the KMS key is enabled (lib/alarms.ts).

const day = 86_400;
const environment = {
  keyringTable: 'Keyring',
  keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/test',
  signingAlgorithm: 'ES256',
  keyRotationSeconds: 90 * day,
  accessTokenSeconds: 900,
  refreshAbsoluteSeconds: 90 * day,
} as const;

it.each([
  ['Enabled', 0],
  ['Disabled', undefined],
  ['PendingDeletion', undefined],
])('A rotation with a KMS key in the state %s reports this count of new keys: %s.', async (KeyState, created) => {
  const database = await startDatabase('Keyring');
  const kms = makeKms({ bytes: randomBytes });
  const counts: number[] = [];
  const telemetry = { ...makeTelemetry('rotate-keys'), count: (_metric: string, by = 1) => void counts.push(by) };
  telemetry.log = { ...telemetry.log, info: () => undefined };
  const rotate = composeRotateKeys(environment, { ...systemRuntime, dynamo: database.dynamo, kms }, telemetry);
  await rotate();
  vi.spyOn(kms, 'send').mockResolvedValue({ KeyMetadata: { KeyState } } as never);
  const rotation = rotate();
  if (created === undefined) await expect(rotation).rejects.toThrow(`The KMS key is ${KeyState}. Enable it.`);
  else await rotation;
  expect(counts[1]).toBe(created);
  await database.stop();
});
