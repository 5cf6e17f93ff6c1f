import type * as z from 'zod/mini';
import { makeRandomIds } from '../../platform/identifiers.ts';
import type { Outside } from '../../platform/outside.ts';
import type { Telemetry } from '../../platform/telemetry.ts';
import type { rotateKeysEnvironment } from '../environment.ts';
import { makeKeyRotation, type RotationResult } from './key-rotation.ts';
import { rotationPolicies } from './rotation-plan.ts';
import { awaitPermissions } from './settling-permissions.ts';

export function composeRotateKeys(
  environment: z.infer<typeof rotateKeysEnvironment>,
  { dynamo, kms, time, random }: Pick<Outside, 'dynamo' | 'kms' | 'time' | 'random'>,
  { log, count }: Telemetry,
) {
  const rotation = makeKeyRotation({
    ...time,
    dynamo,
    kms,
    table: environment.KEYRING_TABLE,
    keyArn: environment.KEY_ARN,
    algorithm: environment.SIGNING_ALGORITHM,
    policies: rotationPolicies({
      periodSeconds: environment.KEY_ROTATION_SECONDS,
      accessTokenSeconds: environment.ACCESS_TOKEN_SECONDS,
      refreshAbsoluteSeconds: environment.REFRESH_ABSOLUTE_SECONDS,
    }),
    makeId: makeRandomIds(random),
  });

  return async function runRotation(): Promise<readonly RotationResult[]> {
    const results = await awaitPermissions(() => rotation.rotateKeys(), { ...time, log });
    for (const result of results) log.info('keys.rotated', { ...result });
    count('KeyCreated', results.filter(({ created }) => created !== undefined).length);
    return results;
  };
}
