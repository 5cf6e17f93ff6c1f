import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, makeGateway, startHttpServer } from '../../../src/local/http-api/server.ts';

let server: HttpServer;
let isThrottled = false;
const requestIds: string[] = [];

const results: Readonly<Record<string, object>> = {
  '/nothing': { statusCode: 204 },
  '/own': { statusCode: 200, headers: { 'Apigw-RequestId': 'mine' } },
};

/** Returns the event, except for the path `/slow`, which never returns. */
const echo = async (payload: string) => {
  const { rawPath: path, rawQueryString: query, body = '', requestContext } = JSON.parse(payload);
  requestIds.push(requestContext.requestId);
  if (path === '/slow') await new Promise(() => undefined);
  const echoed = { statusCode: 200, body: JSON.stringify({ path, query, size: body.length }) };
  return { outcome: 'returned', payload: JSON.stringify(results[path] ?? echoed) } as const;
};

/** Sends raw bytes. Returns the complete response. */
const raw = async (request: string): Promise<string> => {
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.write(request);
  return text(socket);
};

const get = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);

const open = () => {
  const route = { routeKey: '$default', invoke: echo, throttle: () => !isThrottled };
  server.open(makeGateway(path => (path === '/' ? undefined : route), 50));
};

beforeAll(async () => {
  server = await startHttpServer(0);
});
afterAll(() => server.stop());

it('returns 503 before it is opened', async () => {
  const response = await get('/x');
  expect([response.status, await response.text()]).toEqual([503, '{"message":"Service Unavailable"}']);
  open();
});

describe('the gateway returns', () => {
  it.each([
    ['/', 404, 'Not Found'],
    ['/slow', 503, 'Service Unavailable'],
  ])('for the path %s: %i %s', async (path, status, message) => {
    const response = await get(path);
    expect([response.status, await response.json()]).toEqual([status, { message }]);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  it('429 if the route is throttled', async () => {
    isThrottled = true;
    const response = await get('/x');
    isThrottled = false;
    expect([response.status, await response.json()]).toEqual([429, { message: 'Too Many Requests' }]);
  });

  it('413 for more than 10 MiB, with or without a content length, but not for exactly 10 MiB', async () => {
    const bytes = new Uint8Array(10 * 1024 * 1024 + 1);
    const post = (body: Uint8Array | ReadableStream) =>
      get('/x', { method: 'POST', body, duplex: 'half' } as RequestInit);
    for (const body of [bytes, new Blob([bytes]).stream()]) {
      const response = await post(body);
      expect([response.status, await response.json()]).toEqual([413, { message: 'Request Entity Too Large' }]);
    }
    expect((await post(bytes.subarray(1))).status).toBe(200);
  });

  it('431 for a request line and headers of more than 10,240 bytes', async () => {
    const statusFor = async (length: number) => (await get('/x', { headers: { 'x-long': 'a'.repeat(length) } })).status;
    expect([await statusFor(9_000), await statusFor(10_241)]).toEqual([200, 431]);
  });

  it.each([['GET x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'], ['nonsense\r\n\r\n']])(
    '400 for %j',
    async bytes => {
      expect(await raw(bytes)).toMatch(/^HTTP\/1\.1 400 /);
    },
  );
});

describe('the server', () => {
  it.each([
    ['GET', '/a%20b%C3%A1?x=%20&y', '/a bá', 'x=%20&y'],
    ['GET', '/a%zz%2', '/a%zz%2', ''],
    ['GET', '/%ff', '/%ff', ''],
    ['GET', 'http://elsewhere/a/b?c', '/a/b', 'c'],
    ['POST', '//a', '//a', ''],
  ])('parses the target of %s %s', async (method, target, path, query) => {
    const response = await raw(`${method} ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    expect(response.split('\r\n\r\n')[1]).toBe(JSON.stringify({ path, query, size: 0 }));
  });

  it('returns 204 without a body or a content length', async () => {
    const [head] = (await raw('GET /nothing HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 204 /);
    expect(head).not.toMatch(/content-length/i);
  });

  it('returns only the headers for HEAD', async () => {
    const [head, body] = (await raw('HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')).split('\r\n\r\n');
    expect(head).toMatch(/content-length: [1-9]/i);
    expect(body).toBe('');
  });
});

describe('the request id', () => {
  it('is unique, has the format of API Gateway, and is in every response', async () => {
    const paths = ['/x', '/nothing', '/', '/slow'];
    const ids = await Promise.all(paths.map(async path => (await get(path)).headers.get('apigw-requestid')));
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{15}=$/);
    expect(new Set(ids).size).toBe(paths.length);
  });

  it('is passed to the function', async () => {
    const { headers } = await get('/x');
    expect(headers.get('apigw-requestid')).toBe(requestIds.at(-1));
  });

  it("replaces an id in the function's response", async () => {
    const { headers } = await get('/own');
    expect(headers.get('apigw-requestid')).toMatch(/^[A-Za-z0-9_-]{15}=$/);
  });
});
