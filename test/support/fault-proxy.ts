import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeNow, listen } from '../../tools/support/listen.ts';

/** A request that passed the proxy. */
interface PassedRequest {
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly body: string;
  readonly authorization: string | undefined;
  readonly status: number | 'lost' | 'cut' | 'failed' | 'limited' | 'forbidden';
}

/** The answers that the proxy gives in place of the host's: how they are noted, and what they are. */
const ownAnswers = {
  fail: ['failed', 500, '{"error":"server_error"}', {}],
  'fail with a page': ['failed', 502, '<h1>502 Bad Gateway</h1>', { 'content-type': 'text/html' }],
  'ask to wait a second': ['limited', 429, '{"error":"temporarily_unavailable"}', { 'retry-after': '1' }],
  'ask to wait two seconds': ['limited', 503, '{"error":"temporarily_unavailable"}', { 'retry-after': '2' }],
  'ask to wait until a date': ['limited', 429, '{}', { 'retry-after': 'Thu, 26 Nov 2026 19:00:00 GMT' }],
  'forbid as a gateway does': ['forbidden', 403, '{"message":"Forbidden"}', {}],
} as const;

/** The faults that the proxy has for a request, by its number among those of its host, from 1. */
type Cut = 'lose the answer' | 'cut the answer' | 'cut the answer, whose length nobody told' | 'stall the answer';
type Fault = keyof typeof ownAnswers | Cut | 'answer after nine seconds' | undefined;

/** A proxy before one of the run's hosts, which loses answers and asks to wait. */
export interface FaultProxy {
  readonly url: string;
  readonly passed: PassedRequest[];
  /** Decides what becomes of a request. */
  faultOf: (number: number) => Fault;
  /** Is called before a request is passed on. */
  before: (authorization: string | undefined) => void;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port of this machine. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let number = 0;
  const passed: PassedRequest[] = [];
  const server = createServer(async (asked, answer) => {
    number += 1;
    const fault = proxy.faultOf(number);
    const body = await readBody(asked);
    const noted = { path: asked.url ?? '', at: Date.now(), body, authorization: asked.headers.authorization };
    proxy.before(asked.headers.authorization);
    if (fault !== undefined && fault in ownAnswers) {
      const [status, code, text, headers] = ownAnswers[fault as keyof typeof ownAnswers];
      passed.push({ ...noted, status });
      answer.writeHead(code, { 'content-type': 'application/json', ...headers }).end(text);
      return;
    }
    const { status, headers, text } = await passOn(target, asked, body);
    if (fault === 'answer after nine seconds') await sleep(9_000);
    if (fault === undefined || fault === 'answer after nine seconds') {
      passed.push({ ...noted, status });
      endWith(answer, status, headers, text);
      return;
    }
    passed.push({ ...noted, status: fault === 'lose the answer' ? 'lost' : 'cut' });
    if (fault === 'cut the answer, whose length nobody told') {
      answer.useChunkedEncodingByDefault = false; // its end is that of the connection
      answer.writeHead(status, { 'content-type': 'application/json' }).end(text.slice(0, text.length / 2));
      return;
    }
    if (fault !== 'lose the answer') {
      answer.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      await new Promise<void>(resolve => answer.write(text.slice(0, text.length / 2), () => resolve()));
    }
    if (fault !== 'stall the answer') asked.socket.destroy();
  });
  const port = await listen(server);
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${port}`,
    passed,
    faultOf: () => undefined,
    before: () => undefined,
    stop: () => closeNow(server),
  };
  return proxy;
}

function endWith(answer: ServerResponse, status: number, headers: IncomingMessage['headers'], text: string): void {
  const { 'transfer-encoding': _, connection: __, ...kept } = headers;
  answer.writeHead(status, { ...kept, 'content-length': Buffer.byteLength(text) });
  answer.end(text);
}

function passOn(target: string, { method, url = '/', headers }: IncomingMessage, body: string) {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; text: string }>((resolve, reject) => {
    const { host: _, ...kept } = headers;
    const sent = request(new URL(url, target), { method, headers: kept }, async response => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: await readBody(response) });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function readBody(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
