import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Dynamo,
  dynamoSettings,
  isUnavailable,
  makeDocumentClient,
  makeDynamo,
} from '../../../../lambdas/platform/aws/dynamo.ts';
import { makeRequestHandler } from '../../../../lambdas/platform/aws/request-handler.ts';
import { closeNow, listen } from '../../../../tools/support/listen.ts';

type Respond = (response: ServerResponse, request: { readonly Key?: unknown }) => void;

/** The responses that the fake AWS service sends in order before it returns the requested item. */
let plannedResponses: Respond[];
let headers: IncomingMessage['headers'][];
let connections: Set<unknown>;
const server = createServer((request, response) => {
  headers.push(request.headers);
  connections.add(request.socket);
  const parts: Buffer[] = [];
  request.on('data', part => parts.push(part));
  request.on('end', () => (plannedResponses.shift() ?? found)(response, JSON.parse(Buffer.concat(parts).toString())));
});
const found: Respond = (response, { Key }) => response.end(JSON.stringify({ Item: Key }));
const lost: Respond = response => response.destroy();
const half: Respond = response => {
  response.writeHead(200, { 'content-length': 100 }).write('{"Item":');
  setImmediate(() => response.destroy());
};
const failing =
  (status: number, type: string, date = new Date()): Respond =>
  response =>
    response.writeHead(status, { date: date.toUTCString() }).end(JSON.stringify({ __type: type, message: 'no' }));
const throttled = failing(400, 'ProvisionedThroughputExceededException');

let client: DynamoDBDocumentClient;
let dynamo: Dynamo;
const port = await listen(server);
beforeEach(() => {
  plannedResponses = [];
  headers = [];
  connections = new Set();
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', `http://127.0.0.1:${port}`);
  vi.stubEnv('AWS_REGION', 'sa-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'session');
  client = makeDocumentClient(dynamoSettings());
  dynamo = makeDynamo(client);
});
afterEach(() => {
  client.destroy();
  vi.unstubAllEnvs();
});
afterAll(() => closeNow(server));

const get = new GetCommand({ TableName: 'table', Key: { id: 'a' } });
const read = (abortSignal?: AbortSignal) => dynamo(get, abortSignal && { abortSignal });

// ADR 25 requires three tries of at most 1 s each, over keep-alive connections.
describe("a function's AWS client", () => {
  it('signs with the credentials of the function, including the session token', async () => {
    await read();
    await read();
    expect(connections.size).toBe(1); // the connection is reused
    expect(headers).toHaveLength(2);
    expect(headers[0]).toMatchObject({
      'x-amz-security-token': 'session',
      'x-amz-target': 'DynamoDB_20120810.GetItem',
    });
    expect(headers[0]?.authorization).toMatch(
      /Credential=AKIDEXAMPLE\/\d{8}\/sa-east-1\/dynamodb\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target,/,
    );
  });

  it.each<[string, Respond[], number]>([
    ['throttled', [throttled, throttled], 3],
    ['failed by a server error', [failing(500, 'InternalServerError')], 2],
    ['interrupted before the response', [lost, lost], 3],
    ['interrupted within the response', [half, half], 3],
  ])('repeats a call that was %s, and returns the number of tries', async (_name, responses, attempts) => {
    plannedResponses = responses;
    expect(await read()).toMatchObject({ Item: { id: 'a' }, $metadata: { attempts } });
  });

  it.each<[string, Respond[], number]>([
    ['interrupted three times', [half, half, half], 3],
    ['rejected', [failing(400, 'ValidationException')], 1],
  ])('does not repeat a call that was %s', async (_name, responses, attempts) => {
    plannedResponses = responses;
    const error = await read().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ $metadata: { attempts } });
    expect(isUnavailable(error)).toBe(attempts === 3);
  });

  it('signs again with the time from AWS if its own clock is wrong', async () => {
    const there = new Date(Date.now() + 3_600_000);
    plannedResponses = [failing(400, 'InvalidSignatureException', there)];
    await read();
    expect(headers.map(one => String(one['x-amz-date']).slice(0, 11))).toEqual([
      compact(new Date()).slice(0, 11),
      compact(there).slice(0, 11),
    ]);
  });

  it('aborts a call if the service accepts the connection but does not respond', async () => {
    const settings = { ...dynamoSettings(), requestHandler: makeRequestHandler({ timeout: 50 }) };
    const impatient = makeDocumentClient(settings);
    plannedResponses = [() => {}, () => {}, () => {}];
    const call = impatient.send(get);
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError', message: '127.0.0.1: no response within 50 ms' });
    expect(headers).toHaveLength(3);
    impatient.destroy();
  });

  it('ends a call at once if its signal aborts, and does not start a call with an aborted signal', async () => {
    plannedResponses = [() => {}];
    const end = new AbortController();
    const ended = expect(read(end.signal)).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => headers).toHaveLength(1);
    end.abort();
    await ended;
    await expect(read(end.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(headers).toHaveLength(1);
  });

  it('fails a call if the connection switches protocols, which causes neither a response nor an error', async () => {
    const handler = makeRequestHandler({ timeout: 50 });
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n';
    plannedResponses = [({ socket }) => socket?.end(switching)];
    await expect(handler.handle(requestTo(port))).rejects.toMatchObject({ name: 'TimeoutError' });
    handler.destroy?.();
  });

  it('returns a response that arrived while the process was blocked', async () => {
    const aws = new Worker(
      `const { createServer } = require('node:http');
      const { parentPort } = require('node:worker_threads');
      const server = createServer((_, response) => response.end('{}'));
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true },
    );
    const [port] = await once(aws, 'message');
    const { handle, destroy } = makeRequestHandler({ timeout: 200 });
    const send = () => handle(requestTo(port));
    await Promise.all(Array.from({ length: 20 }, send)); // opens the connections for reuse
    const calls = Array.from({ length: 20 }, send);
    setImmediate(() => {
      for (const end = performance.now() + 500; performance.now() < end; );
    });
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(calls.map(() => 'fulfilled'));
    destroy?.();
    await aws.terminate();
  });
});

function requestTo(port: number): never {
  return {
    protocol: 'http:',
    hostname: '127.0.0.1',
    port,
    method: 'POST',
    path: '/',
    headers: {},
    body: '{}',
  } as never;
}

function compact(date: Date): string {
  return date.toISOString().replaceAll(/[-:]/g, '');
}
