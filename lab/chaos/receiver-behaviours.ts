import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HostDelays, makeHostMap } from '@emissor/local-cloud/hosts';
import type { AttemptResult } from '../../lambdas/delivery/delivery.ts';

/** The behaviour of a receiver, and what must become of the events that are sent to it. */
export interface ReceiverBehaviour {
  readonly name: string;
  readonly state: 'delivered' | 'failed';
  /** The results that its attempts may have. */
  readonly results: readonly AttemptResult[];
  /** The addresses that its name leads to once its webhook is registered. */
  readonly leadsTo?: readonly string[];
  /** By how much its name and its TLS handshake keep callers waiting from then on. */
  readonly delays?: HostDelays;
  readonly answer: Answer;
}

type Answer = (visit: Visit) => void;

/** A complete request, and how many with the same `webhook-id` came before it. */
interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly earlier: number;
}

/** Receivers whose behaviour only sockets show: bodies and headers that do not end, resets, names, certificates. The world tries the others. */
export const receiverBehaviours: readonly ReceiverBehaviour[] = [
  delivered('204', ['delivered'], answer204),
  delivered('200, trickling body', ['delivered'], ({ response }) => keepWriting(response.writeHead(200), '.', 50)),
  delivered('200, endless body', ['delivered'], ({ response }) => keepWriting(response.writeHead(200), chunk, 5)),
  delivered(
    '500 once',
    ['http', 'delivered'],
    afterOne(({ response }) => response.writeHead(500).end()),
  ),
  delivered('reset once', ['connection', 'delivered'], afterOne(reset)),
  failed('500, endless body', ['http'], ({ response }) => keepWriting(response.writeHead(500), chunk, 5)),
  failed('redirect', ['http'], ({ request, response }) =>
    response.writeHead(307, { location: `https://${request.headers.host}/followed` }).end(),
  ),
  failed('hang', ['timeout'], () => undefined),
  failed('reset', ['connection'], reset),
  failed('endless headers', ['timeout', 'connection'], ({ request: { socket } }) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    keepWriting(socket, 'x-more: of the same\r\n', 50);
  }),
  failed('no HTTP', ['connection'], ({ request }) => request.socket.end('220 mail\r\n')),
  {
    ...failed('slow name, no TLS handshake', ['timeout'], answer204),
    delays: { resolvesAfter: 500, handshakeAfter: 3_600_000 },
  },
  { ...failed('certificate of another', ['tls'], answer204), leadsTo: addressesOfAnother() },
  { ...failed('no such name', ['dns'], answer204), leadsTo: [] },
  { ...failed('name rebound to loopback', ['blocked'], answer204), leadsTo: ['127.0.0.1'] },
];

const chunk = 'x'.repeat(16_384);

function delivered(name: string, results: readonly AttemptResult[], answer: Answer): ReceiverBehaviour {
  return { name, state: 'delivered', results, answer };
}

function failed(name: string, results: readonly AttemptResult[], answer: Answer): ReceiverBehaviour {
  return { name, state: 'failed', results, answer };
}

function afterOne(first: Answer): Answer {
  return function answerAfterOne(visit) {
    if (visit.earlier === 0) first(visit);
    else answer204(visit);
  };
}

/** Returns the addresses of the built-in receiver, which has no certificate for other names. */
function addressesOfAnother(): readonly string[] {
  const name = 'receiver.example.com';
  return makeHostMap({ builtIn: new Map([[name, 1]]), mappings: new Map() }).addressesOf(name) ?? [];
}

function answer204({ response }: Visit): void {
  response.writeHead(204).end();
}

function reset({ request }: Visit): void {
  request.socket.resetAndDestroy();
}

/** Writes again and again until the other side has had enough. */
function keepWriting(stream: NodeJS.WritableStream, text: string, pauseMs: number): void {
  const timer = setInterval(() => stream.write(text), pauseMs);
  stream.once('close', () => clearInterval(timer));
}
