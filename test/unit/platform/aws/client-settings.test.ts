import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { KMSClient, ListKeysCommand } from '@aws-sdk/client-kms';
import { expect, it } from 'vitest';
import { clientSettings } from '../../../../lambdas/platform/aws/client-settings.ts';

it('gives up on a service that accepts the connection and stays silent', { timeout: 15_000 }, async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const client = new KMSClient({
    ...clientSettings,
    requestHandler: { ...clientSettings.requestHandler, requestTimeout: 50 },
    region: 'sa-east-1',
    endpoint: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  await expect(client.send(new ListKeysCommand())).rejects.toMatchObject({ name: 'TimeoutError' });
  client.destroy();
  silent.close();
});
