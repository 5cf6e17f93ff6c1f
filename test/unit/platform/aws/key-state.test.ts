import { expect, it } from 'vitest';
import { makeReadKeyState } from '../../../../lambdas/platform/aws/key-state.ts';
import { standInForAws } from '../../../support/aws-stand-in.ts';

const keyArn = 'arn:aws:kms:sa-east-1:111122223333:key/1';

it.each([
  [{ KeyState: 'Enabled' }, { state: 'Enabled', deletedAt: undefined }],
  [
    { KeyState: 'PendingDeletion', DeletionDate: Date.UTC(2026, 11, 20) / 1_000 },
    { state: 'PendingDeletion', deletedAt: '2026-12-20T00:00:00.000Z' },
  ],
])('asks KMS for the state of a key, and for the day of its deletion: %j', async (KeyMetadata, expected) => {
  const requests = await standInForAws('KMS', { KeyMetadata });
  expect(await makeReadKeyState()(keyArn)).toEqual(expected);
  expect(requests.map(({ headers }) => headers['x-amz-target'])).toEqual(['TrentService.DescribeKey']);
});
