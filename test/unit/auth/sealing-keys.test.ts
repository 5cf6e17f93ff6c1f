import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKeyRotation } from '../../../lambdas/auth/key-rotation.ts';
import { rotationPolicies } from '../../../lambdas/auth/rotation-plan.ts';
import { randomId } from '../../../lambdas/platform/identifiers.ts';
import { makeKeyring } from '../../../lambdas/platform/keyring.ts';
import { frozenClock } from '../../support/clock.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';
import { makeFakeKms } from '../../support/fake-kms.ts';

describe('sealing keys', () => {
  let dynalite: Dynalite;
  beforeAll(async () => {
    dynalite = await startDynalite('Keyring');
  });
  afterAll(() => dynalite.stop());
  it('are there after ten years of daily rotation', async () => {
    const clock = frozenClock();
    const { documents } = dynalite;
    const rotation = makeKeyRotation({
      documents,
      kms: makeFakeKms().client,
      tableName: 'Keyring',
      keyArn: 'arn:aws:kms:sa-east-1:000000000000:key/test',
      algorithm: 'ES256',
      policies: rotationPolicies({
        periodSeconds: 90 * 86_400,
        accessTokenSeconds: 900,
        refreshAbsoluteSeconds: 90 * 86_400,
      }),
      now: clock.now,
      makeId: randomId,
    });
    for (let quarter = 0; quarter < 40; quarter++) {
      await rotation.rotateKeys(['sealing']);
      clock.advance(90 * 86_400_000);
    }
    const keys = await makeKeyring({ documents, tableName: 'Keyring', now: clock.now }).list('sealing');
    expect(keys[0]?.generation).toBe(1);
  });
});
