import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostDelays } from '@emissor/local-cloud/internet/hosts-file';
import type { AttemptResult, DeliveryState } from '../../lambdas/delivery/delivery.ts';

/** A complete request, and how many with the same `webhook-id` came before it. */
interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly earlier: number;
}

/** The behaviour of a receiver, and the state that every event sent to it must end in. */
export interface ReceiverBehaviour {
  readonly name: string;
  readonly state: Exclude<DeliveryState, 'pending'> | 'not stored';
  /** The results that its attempts may have, beside internal errors. */
  readonly results: readonly AttemptResult[];
  /** The least time that its Retry-After asks for. */
  readonly retryAfterMs?: number;
  readonly nameChange?: NameChange;
  /** By how much its name and its TLS handshake keep callers waiting, once its webhook is registered. */
  readonly hostDelays?: HostDelays;
  /** Its webhook is deleted while its deliveries wait. */
  readonly isDeleted?: true;
  /** No webhook is registered. */
  readonly isUnregistered?: true;
  answer(visit: Visit): void;
}

/**
 * All behaviours.
 *
 * @param retryAfter - the Retry-After of receivers that ask for time: milliseconds, in whole seconds.
 * @param longRetryAfter - the same, long enough for a webhook to be deleted meanwhile.
 */
export function receiverBehaviours(retryAfter: number, longRetryAfter: number): readonly ReceiverBehaviour[] {
  return [
    { name: '204', state: 'delivered', results: ['delivered'], answer: visit => end(visit, 204) },
    {
      name: '200, slow',
      state: 'delivered',
      results: ['delivered'],
      answer: v => void setTimeout(() => end(v, 200), 300),
    },
    {
      name: '200, trickling body',
      state: 'delivered',
      results: ['delivered'],
      answer: ({ response }) => keepWriting(response.writeHead(200), '.', 50),
    },
    {
      name: '200, endless body',
      state: 'delivered',
      results: ['delivered'],
      answer: ({ response }) => keepWriting(response.writeHead(200), 'x'.repeat(16_384), 5),
    },
    {
      name: '500 once',
      state: 'delivered',
      results: ['http', 'delivered'],
      answer: afterOne(visit => end(visit, 500)),
    },
    {
      name: 'reset once',
      state: 'delivered',
      results: ['connection', 'delivered'],
      answer: afterOne(({ request }) => request.socket.resetAndDestroy()),
    },
    {
      name: '429 once, Retry-After in seconds',
      state: 'delivered',
      results: ['http', 'delivered'],
      retryAfterMs: retryAfter,
      answer: afterOne(visit => end(visit, 429, { 'retry-after': inSeconds(retryAfter) })),
    },
    {
      name: '503 once, Retry-After as a date',
      state: 'delivered',
      results: ['http', 'delivered'],
      retryAfterMs: retryAfter - dateRounding,
      answer: afterOne(visit => end(visit, 503, { 'retry-after': new Date(Date.now() + retryAfter).toUTCString() })),
    },
    { name: '404', state: 'failed', results: ['http'], answer: visit => end(visit, 404, {}, 'nothing here') },
    { name: '500', state: 'failed', results: ['http'], answer: visit => end(visit, 500) },
    {
      name: '500, endless body',
      state: 'failed',
      results: ['http'],
      answer: ({ response }) => keepWriting(response.writeHead(500), 'x'.repeat(16_384), 5),
    },
    {
      name: 'redirect',
      state: 'failed',
      results: ['http'],
      answer: visit => end(visit, 307, { location: `https://${visit.request.headers.host}/followed` }),
    },
    { name: '410', state: 'held', results: ['http'], answer: visit => end(visit, 410) },
    { name: 'hang', state: 'failed', results: ['timeout'], answer: () => undefined },
    {
      name: 'reset',
      state: 'failed',
      results: ['connection'],
      answer: ({ request }) => request.socket.resetAndDestroy(),
    },
    {
      name: 'trickling headers',
      state: 'failed',
      results: ['timeout', 'connection'],
      answer: visit => writeRaw(visit, 'x-more: of the same\r\n', 50),
    },
    {
      name: 'no HTTP',
      state: 'failed',
      results: ['connection'],
      answer: ({ request }) => request.socket.end('220 mail\r\n'),
    },
    {
      name: 'invalid TLS',
      state: 'failed',
      results: ['tls'],
      nameChange: 'someone-elses',
      answer: unreachable,
    },
    { name: 'no such name', state: 'failed', results: ['dns'], nameChange: 'nothing', answer: unreachable },
    {
      name: 'name rebound to loopback',
      state: 'failed',
      results: ['blocked'],
      nameChange: 'loopback',
      answer: unreachable,
    },
    {
      name: 'deleted while waiting',
      state: 'cancelled',
      results: ['http'],
      retryAfterMs: longRetryAfter,
      isDeleted: true,
      answer: visit => end(visit, 503, { 'retry-after': inSeconds(longRetryAfter) }),
    },
    { name: 'no webhook', state: 'not stored', results: [], isUnregistered: true, answer: unreachable },
  ];
}

/** The address that a name leads to once its webhook is registered, if it changes. */
type NameChange = 'nothing' | 'loopback' | 'someone-elses';

function end({ response }: Visit, status: number, headers: Record<string, string> = {}, body?: string): void {
  response.writeHead(status, headers).end(body);
}

/** Writes again and again until the other side has had enough. */
function keepWriting(response: ServerResponse, text: string, pauseMs: number): void {
  const timer = setInterval(() => response.write(text), pauseMs);
  response.once('close', () => clearInterval(timer));
}

function afterOne(first: (visit: Visit) => void) {
  return (visit: Visit): void => (visit.earlier === 0 ? first(visit) : end(visit, 204));
}

function inSeconds(milliseconds: number) {
  return String(milliseconds / 1_000);
}

/** A date in whole seconds may be earlier by this much. */
const dateRounding = 1_000;

/** Writes to the connection itself, again and again. */
function writeRaw({ request }: Visit, text: string, pauseMs: number): void {
  const { socket } = request;
  const timer = setInterval(() => socket.write(text), pauseMs);
  socket.write('HTTP/1.1 200 OK\r\n');
  socket.once('close', () => clearInterval(timer));
}

function unreachable(visit: Visit): void {
  end(visit, 500, {}, 'nobody should get here');
}
