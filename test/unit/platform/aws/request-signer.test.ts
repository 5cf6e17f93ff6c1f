import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Credentials, makeRequestSigner } from '../../../../lambdas/platform/aws/request-signer.ts';

/** The credentials of the AWS test suite for Signature Version 4. */
const exampleCredentials: Credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const sessionToken =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';
const signingDate = new Date('2015-08-30T12:36:00Z');
const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

const sign = async (request: object, credentials: Credentials = exampleCredentials, service = 'service') => {
  const signer = makeRequestSigner({ service, region: 'us-east-1', credentials });
  const signed = await signer.sign(request as never, { signingDate });
  return signed.headers.authorization;
};
const request = (changes: object = {}) => ({
  protocol: 'https:',
  hostname: 'example.amazonaws.com',
  method: 'POST',
  path: '/',
  query: {},
  headers: {},
  ...changes,
});

describe('a signature', () => {
  const scope = 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request';
  it.each([
    [
      'get-vanilla',
      { method: 'GET' },
      exampleCredentials,
      'host;x-amz-date',
      '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    ],
    [
      'post-vanilla',
      {},
      exampleCredentials,
      'host;x-amz-date',
      '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    ],
    [
      'post-x-www-form-urlencoded',
      { headers: formHeaders, body: 'Param1=value1' },
      exampleCredentials,
      'content-type;host;x-amz-date',
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
    [
      'post-sts-header-before',
      {},
      { ...exampleCredentials, sessionToken },
      'host;x-amz-date;x-amz-security-token',
      '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
    ],
  ])('equals the signature in the AWS test suite: %s', async (_name, changes, credentials, headers, signature) => {
    const expected = `${scope}, SignedHeaders=${headers}, Signature=${signature}`;
    expect(await sign(request(changes), credentials)).toBe(expected);
  });

  it('equals the SDK’s signature of the same headers for any body, path and token', async () => {
    const bodies = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array());
    const paths = fc.constantFrom('/', '/2015-03-31/event-source-mappings/4be5c2fa-0d4c-4a3a-a4b5-36ef2b3a6ee0');
    await fc.assert(
      fc.asyncProperty(bodies, paths, fc.option(fc.base64String()), async (body, path, token) => {
        const credentials = { ...exampleCredentials, ...(token ? { sessionToken: token } : {}) };
        const client = new DynamoDBClient({ region: 'us-east-1', credentials });
        const sdkSigner = await client.config.signer();
        const makeRequest = () =>
          request({ body, path, headers: { host: 'example.amazonaws.com', 'x-amz-target': 'A.B' } });
        const expected = await sdkSigner.sign(makeRequest() as never, {
          signingDate,
          signingService: 'service',
          unsignableHeaders: new Set(['x-amz-content-sha256']),
        });
        expect(await sign(makeRequest(), credentials)).toBe(expected.headers.authorization);
      }),
    );
  });

  it('uses the signing key of its day', async () => {
    const signer = makeRequestSigner({ service: 'service', region: 'us-east-1', credentials: exampleCredentials });
    const at = async (date: string) =>
      (await signer.sign(request() as never, { signingDate: new Date(date) })).headers.authorization;
    const first = await at('2015-08-30T12:36:00Z');
    await at('2015-08-31T00:00:00Z');
    expect(await at('2015-08-30T12:36:00Z')).toBe(first);
  });

  it('includes the port of the host, if any', async () => {
    const signed = request({ hostname: '127.0.0.1', port: 8000 });
    await sign(signed);
    expect(signed.headers).toMatchObject({ host: '127.0.0.1:8000' });
  });

  it.each([{ query: { a: 'b' } }, { path: '/a b' }, { path: '/a%20b' }, { path: '/a//b' }, { path: '/a/../b' }])(
    'fails for a request with a query or a path that is not in canonical form: %j',
    async changes => {
      await expect(sign(request(changes))).rejects.toThrow('Only plain paths without a query');
    },
  );
});
