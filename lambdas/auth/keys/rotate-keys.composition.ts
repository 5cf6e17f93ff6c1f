import { DescribeKeyCommand } from '@aws-sdk/client-kms';
import { withRetries } from '../../platform/deployment/retry.ts';
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
    const results = await withRetries(time, maxRetryTime, () => rotation.rotateKeys());
    for (const result of results) log.info('keys.rotated', { ...result });
    await requireEnabledKey();
    count('KeyCreated', results.filter(({ created }) => created !== undefined).length);
    return results;
  };

  /** Checks that the KMS key is enabled. Without this check, only a run that creates a key would detect a disabled KMS key. */
  async function requireEnabledKey(): Promise<void> {
    const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId: environment.keyArn }));
    if (KeyMetadata?.KeyState !== 'Enabled') throw new Error(`The KMS key is ${KeyMetadata?.KeyState}. Enable it.`);
  }
}

/** The maximum retry time in milliseconds. New IAM permissions take effect with a delay. The function's timeout is 1 minute. */
const maxRetryTime = 40_000;
