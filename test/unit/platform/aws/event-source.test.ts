import { expect, it } from 'vitest';
import { makeReadEventSourceState } from '../../../../lambdas/platform/aws/event-source.ts';
import { standInForAws } from '../../../support/aws-stand-in.ts';

// The signer refused Lambda's paths: no call left the process, and SourceOff could not ring.
it('asks Lambda for the state of an event source', async () => {
  const id = '4be5c2fa-0d4c-4a3a-a4b5-36ef2b3a6ee0';
  const requests = await standInForAws('LAMBDA', { UUID: id, State: 'Disabled' });
  expect(await makeReadEventSourceState()(id)).toBe('Disabled');
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
    `GET /2015-03-31/event-source-mappings/${id}`,
  ]);
  expect(requests[0]?.headers.authorization).toMatch(/ Credential=a\/\d{8}\/sa-east-1\/lambda\//);
});
