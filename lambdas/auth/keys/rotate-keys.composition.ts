import { DescribeKeyCommand } from '@aws-sdk/client-kms';
import { withPatience } from '../../platform/deployment/patience.ts';
import type { Environment } from '../../platform/environment.ts';
import { makeRandomIds } from '../../platform/identifiers.ts';
import type { Runtime } from '../../platform/runtime.ts';
import type { Telemetry } from '../../platform/telemetry.ts';
import type { rotateKeysEnvironment } from '../environment.ts';
import { makeKeyRotation, type RotationResult } from './key-rotation.ts';

export function composeRotateKeys(
  environment: Environment<typeof rotateKeysEnvironment>,
  { dynamo, kms, time, random }: Pick<Runtime, 'dynamo' | 'kms' | 'time' | 'random'>,
  { log, count }: Telemetry,
) {
  const rotation = makeKeyRotation({
    ...environment,
    ...time,
    dynamo,
    kms,
    table: environment.keyringTable,
    algorithm: environment.signingAlgorithm,
    makeId: makeRandomIds(random),
  });

  return async function runRotation(): Promise<readonly RotationResult[]> {
    const results = await withPatience(time, patience, () => rotation.rotateKeys());
    for (const result of results) log.info('keys.rotated', { ...result });
    await requireEnabledKey();
    count('KeyCreated', results.filter(({ created }) => created !== undefined).length);
    return results;
  };

  /** A rotation without a due key calls no KMS, and processes keep the keys that they have opened: nothing else would notice. */
  async function requireEnabledKey(): Promise<void> {
    const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId: environment.keyArn }));
    if (KeyMetadata?.KeyState !== 'Enabled') throw new Error(`The KMS key is ${KeyMetadata?.KeyState}: enable it.`);
  }
}

/** Milliseconds: the first deployment uses the role's permissions at once. The function's own time is a minute. */
const patience = 40_000;
