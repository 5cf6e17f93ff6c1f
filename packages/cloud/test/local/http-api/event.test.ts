import { describe, expect, it } from 'vitest';
import { type IncomingRequest, makeEvent } from '../../../src/local/http-api/event.ts';

const request: IncomingRequest = {
  method: 'POST',
  path: '/oauth/v1/token',
  rawQueryString: '',
  protocol: 'HTTP/1.1',
  rawHeaders: ['Host', '127.0.0.1:4000', 'User-Agent', 'curl/8'],
  body: Buffer.alloc(0),
  sourceIp: '127.0.0.1',
  requestId: 'AbCdEfGhIjKlMnO=',
  receivedAt: Date.UTC(2026, 2, 5, 7, 8, 9),
};
const route = { routeKey: 'ANY /oauth/v1/token', target: undefined, pathParameters: {} };
const event = (changes: Partial<IncomingRequest>, pathParameters = {}) =>
  makeEvent({ ...request, ...changes }, { ...route, pathParameters }, { apiId: 'abcdefghij', host: '127.0.0.1:4000' });

it('a request without anything optional', () => {
  expect(event({})).toEqual({
    version: '2.0',
    routeKey: 'ANY /oauth/v1/token',
    rawPath: '/oauth/v1/token',
    rawQueryString: '',
    headers: {
      host: '127.0.0.1:4000',
      'user-agent': 'curl/8',
      'x-amzn-trace-id': expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/),
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-port': '4000',
      'x-forwarded-proto': 'http',
    },
    requestContext: {
      accountId: '000000000000',
      apiId: 'abcdefghij',
      domainName: '127.0.0.1:4000',
      domainPrefix: '127',
      http: {
        method: 'POST',
        path: '/oauth/v1/token',
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: 'curl/8',
      },
      requestId: 'AbCdEfGhIjKlMnO=',
      routeKey: 'ANY /oauth/v1/token',
      stage: '$default',
      time: '05/Mar/2026:07:08:09 +0000',
      timeEpoch: 1772694489000,
    },
    isBase64Encoded: false,
  });
});

describe('bodies', () => {
  const text = 'grant_type=password&username=á';
  it.each([
    // As observed on AWS: text/*, JSON, XML and JavaScript are text; everything else is not.
    ['application/json', false],
    ['application/json; charset=utf-8', false],
    ['APPLICATION/JSON', false],
    ['application/xml', false],
    ['application/javascript', false],
    ['text/plain', false],
    ['text/anything', false],
    ['application/x-www-form-urlencoded', true],
    ['application/x-www-form-urlencoded; charset=UTF-8', true],
    ['multipart/form-data; boundary=x', true],
    ['application/problem+json', true],
    ['application/octet-stream', true],
    [undefined, true],
  ])('of type %s: base64 %s', (type, isBase64Encoded) => {
    const made = event({ rawHeaders: type ? ['Content-Type', type] : [], body: Buffer.from(text) });
    expect(made.isBase64Encoded).toBe(isBase64Encoded);
    expect(Buffer.from(made.body ?? '', isBase64Encoded ? 'base64' : 'utf8').toString()).toBe(text);
    expect(made.headers['content-length']).toBe(String(Buffer.byteLength(text)));
  });

  it('bytes that are not UTF-8 are kept, whatever the type', () => {
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    const made = event({ rawHeaders: ['content-type', 'application/json'], body: bytes });
    expect(made.isBase64Encoded).toBe(true);
    expect(Buffer.from(made.body ?? '', 'base64')).toEqual(bytes);
  });

  it('bytes of a form are kept as they were sent', () => {
    const bytes = Buffer.from([0xff, 0x00, 0x80, 0x3d]);
    const made = event({ rawHeaders: ['content-type', 'application/x-www-form-urlencoded'], body: bytes });
    expect(Buffer.from(made.body ?? '', 'base64')).toEqual(bytes);
  });
});

describe('headers', () => {
  it('duplicates are joined by a comma, names are in lower case, cookies are separate', () => {
    const cookies = ['Cookie', 'a=1; b=2', 'Cookie', 'c=3'];
    const authorizations = ['Authorization', 'Basic x', 'authorization', 'Bearer y'];
    const made = event({ rawHeaders: ['X-A', '1', ...cookies, 'x-a', '2, 3', ...authorizations] });
    expect(made.headers).toMatchObject({ 'x-a': '1,2, 3', authorization: 'Basic x,Bearer y' });
    expect(made.headers).not.toHaveProperty('cookie');
    expect(made.cookies).toEqual(['a=1', 'b=2', 'c=3']);
  });

  it('those of the connection are not forwarded; in X-Forwarded-For the actual address comes last', () => {
    const ofConnection = ['Connection', 'keep-alive', 'Transfer-Encoding', 'chunked'];
    const forwarded = ['X-Forwarded-For', '9.9.9.9', 'X-Forwarded-Proto', 'https'];
    const made = event({ rawHeaders: [...ofConnection, ...forwarded], body: Buffer.from('x') });
    expect(made.headers).not.toHaveProperty('connection');
    expect(made.headers).toMatchObject({
      'content-length': '1',
      'x-forwarded-for': '9.9.9.9, 127.0.0.1',
      'x-forwarded-proto': 'http',
    });
    expect(made.headers).not.toHaveProperty('transfer-encoding');
  });
});

describe('query strings and path parameters', () => {
  it.each([
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=1&a=2&a=', { a: '1,2,' }],
    ['limite=10&cursor=a%2Fb+c', { limite: '10', cursor: 'a/b c' }],
    ['flag', { flag: '' }],
    ['', undefined],
  ])('%s', (rawQueryString, queryStringParameters) => {
    const made = event({ rawQueryString });
    expect(made.rawQueryString).toBe(rawQueryString);
    expect(made.queryStringParameters).toEqual(queryStringParameters);
  });

  it('path parameters are there when the route has some', () => {
    expect(event({}, { proxy: 'a/b' }).pathParameters).toEqual({ proxy: 'a/b' });
    expect(event({})).not.toHaveProperty('pathParameters');
  });
});
