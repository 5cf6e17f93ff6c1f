import { KMSClient } from '@aws-sdk/client-kms';
import { rotateKeysEnvironment } from '../../lambdas/auth/environment.ts';
import { type KeyRotation, makeKeyRotation, type RotationSettings } from '../../lambdas/auth/keys/key-rotation.ts';
import { rotationPolicies } from '../../lambdas/auth/keys/rotation-plan.ts';
import { type Lockout, makeLockout } from '../../lambdas/auth/protection/lockout.ts';
import { systemClock } from '../../lambdas/platform/clock.ts';
import { randomId } from '../../lambdas/platform/identifiers.ts';
import { type Keyring, makeKeyring } from '../../lambdas/platform/keyring.ts';
import { CliError } from './cli-error.ts';
import { connectDynamo } from './stores.ts';
import { connectionSettings, requireOutput, type Target } from './target.ts';

/** The target's keyring. It lists keys and unwraps none; a new one reads the table anew. */
export function openKeyring(target: Target): Pick<Keyring, 'list'> {
  return makeKeyring({
    dynamo: connectDynamo(target),
    table: requireOutput(target, 'KeyringTable'),
    now: systemClock,
  });
}

/** The target's lockout. It needs the MAC key, because the keys of its items are MACs. */
export function openLockout(target: Target): Pick<Lockout, 'unlock'> {
  const dynamo = connectDynamo(target);
  const kms = new KMSClient(connectionSettings(target, target.outputs.KmsEndpoint));
  const keyring = makeKeyring({
    dynamo,
    kms,
    table: requireOutput(target, 'KeyringTable'),
    now: systemClock,
  });
  return makeLockout({ dynamo, keyring, table: requireOutput(target, 'LockoutsTable'), now: systemClock });
}

/** The target's key rotation, with the settings of its scheduled function. */
export function openRotation(target: Target): KeyRotation {
  return makeKeyRotation({
    ...rotationSettings(target),
    dynamo: connectDynamo(target),
    kms: new KMSClient(connectionSettings(target, target.outputs.KmsEndpoint)),
    now: systemClock,
    makeId: randomId,
  });
}

/** The settings that the target's rotation of keys has. */
export function rotationSettings(target: Target): RotationSettings {
  try {
    const environment = rotateKeysEnvironment.parse(JSON.parse(requireOutput(target, 'RotateKeysSettings')));
    return {
      table: environment.KEYRING_TABLE,
      keyArn: environment.KEY_ARN,
      algorithm: environment.SIGNING_ALGORITHM,
      policies: rotationPolicies({
        periodSeconds: environment.KEY_ROTATION_SECONDS,
        accessTokenSeconds: environment.ACCESS_TOKEN_SECONDS,
        refreshAbsoluteSeconds: environment.REFRESH_ABSOLUTE_SECONDS,
      }),
    };
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${target.label} has key settings of another version: deploy or start this version first.`);
  }
}
