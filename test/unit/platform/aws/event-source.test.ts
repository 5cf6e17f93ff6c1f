import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeReadEventSourceState } from '../../../../lambdas/platform/aws/event-source.ts';

// The signer refused Lambda's paths: no call left the process, and SourceOff could not ring.
it('asks Lambda for the state of an event source', async () => {
  const id = '4be5c2fa-0d4c-4a3a-a4b5-36ef2b3a6ee0';
  const asked: unknown[] = [];
  const lambda = createServer(({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${/Credential=a\/\d{8}\/sa-east-1\/lambda\//.test(headers.authorization ?? '')}`);
    response.end(JSON.stringify({ UUID: id, State: 'Disabled' }));
  });
  await once(lambda.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    lambda.closeAllConnections();
    lambda.close();
    vi.unstubAllEnvs();
  });
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', `http://127.0.0.1:${(lambda.address() as AddressInfo).port}`);
  vi.stubEnv('AWS_REGION', 'sa-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  expect(await makeReadEventSourceState()(id)).toBe('Disabled');
  expect(asked).toEqual([`GET /2015-03-31/event-source-mappings/${id} true`]);
});
