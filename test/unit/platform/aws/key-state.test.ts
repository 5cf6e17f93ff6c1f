import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeReadKeyState } from '../../../../lambdas/platform/aws/key-state.ts';

const keyArn = 'arn:aws:kms:sa-east-1:111122223333:key/1';

it.each([
  [{ KeyState: 'Enabled' }, { state: 'Enabled', deletedAt: undefined }],
  [
    { KeyState: 'PendingDeletion', DeletionDate: Date.UTC(2026, 11, 20) / 1_000 },
    { state: 'PendingDeletion', deletedAt: '2026-12-20T00:00:00.000Z' },
  ],
])('asks KMS for the state of a key, and for the day of its deletion: %j', async (KeyMetadata, expected) => {
  const asked: unknown[] = [];
  const kms = createServer((request, response) => {
    asked.push(request.headers['x-amz-target']);
    request.resume().on('end', () => response.end(JSON.stringify({ KeyMetadata })));
  });
  await once(kms.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    kms.closeAllConnections();
    kms.close();
    vi.unstubAllEnvs();
  });
  vi.stubEnv('AWS_ENDPOINT_URL_KMS', `http://127.0.0.1:${(kms.address() as AddressInfo).port}`);
  vi.stubEnv('AWS_REGION', 'sa-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  expect(await makeReadKeyState()(keyArn)).toEqual(expected);
  expect(asked).toEqual(['TrentService.DescribeKey']);
});
