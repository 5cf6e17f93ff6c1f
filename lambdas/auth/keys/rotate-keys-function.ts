import type * as z from 'zod/mini';
import type { rotateKeysEnvironment } from '../environment.ts';
import { type KeyRotation, type KeyRotationDependencies, makeKeyRotation } from './key-rotation.ts';
import { rotationPolicies } from './rotation-plan.ts';

/** What the rotation of one stage's keys stands on: its settings and the outside world. */
export interface RotateKeysDependencies extends Pick<KeyRotationDependencies, 'dynamo' | 'kms' | 'now' | 'makeId'> {
  readonly environment: z.output<typeof rotateKeysEnvironment>;
}

/** Puts the key rotation together; for the scheduled function and for the operator, who must not differ. */
export function makeRotateKeysFunction({ environment, ...world }: RotateKeysDependencies): KeyRotation {
  return makeKeyRotation({
    ...world,
    tableName: environment.KEYRING_TABLE,
    keyArn: environment.KEY_ARN,
    algorithm: environment.SIGNING_ALGORITHM,
    policies: rotationPolicies({
      periodSeconds: environment.KEY_ROTATION_SECONDS,
      accessTokenSeconds: environment.ACCESS_TOKEN_SECONDS,
      refreshAbsoluteSeconds: environment.REFRESH_ABSOLUTE_SECONDS,
    }),
  });
}
