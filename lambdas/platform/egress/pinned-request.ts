import type { IncomingHttpHeaders } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { type BodyStart, readBodyStart } from './body-start.ts';
import { classifyFailure, codeOf, type Failure, type Stage } from './failure.ts';
import { maximumHeaderBytes, watchConnecting, watchHeaders, watchTickets } from './socket-watch.ts';

/** One POST over one connection. */
export interface Exchange {
  readonly agent: Agent;
  /** The checked address: no name is looked up from here on. */
  readonly address: string;
  readonly port: number;
  /** The name for SNI and the certificate; empty when the URL itself names an address (RFC 6066 section 3 allows no SNI then). */
  readonly serverName: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
  /** Milliseconds to connect (TCP) in; TLS is the deadline's. */
  readonly connectTimeoutMs: number;
  /** Before the response's headers it ends the exchange, afterwards only the reading. */
  readonly signal: AbortSignal;
  /** A new connection came about. */
  readonly onConnected: () => void;
  /** The response's last header has come. */
  readonly onAnswered: () => void;
}

/** What came of one exchange. */
export type ExchangeOutcome =
  | ({
      readonly outcome: 'response';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
    } & BodyStart)
  | { readonly outcome: 'aborted' }
  | ({
      readonly outcome: 'failed';
      /** Whether there was a connection: without one nothing was sent, and another address may be tried. */
      readonly isConnected: boolean;
      /** Whether a kept-alive connection was closed before it brought any response byte: the receiver may not be at fault. */
      readonly isStale: boolean;
    } & Failure);

/** Sends one POST and waits for the answer. Redirects are answers like any other. Never rejects. */
export function exchange(request: Exchange) {
  return new Promise<ExchangeOutcome>(resolve => {
    const { agent, address, port, serverName, path, headers, body, connectTimeoutMs, signal } = request;
    let stage: Stage = 'connecting';
    let bytesBefore = 0;
    let informational = 0;
    let hasResponse = false;
    const watches: (() => void)[] = [];
    const outgoing = httpsRequest({
      agent,
      host: address,
      port,
      servername: serverName,
      method: 'POST',
      path,
      headers,
      maxHeaderSize: maximumHeaderBytes,
    });
    const settle = (outcome: ExchangeOutcome | Promise<ExchangeOutcome>) => {
      for (const end of watches) end();
      signal.removeEventListener('abort', abort);
      resolve(outcome);
    };
    const abort = () => {
      settle({ outcome: 'aborted' });
      outgoing.destroy();
    };
    const fail = (failure: Failure) => {
      if (hasResponse) return; // what breaks now ends the body: `readBodyStart` sees it too
      const { socket, reusedSocket } = outgoing;
      const isSilent = (socket?.bytesRead ?? 0) === bytesBefore;
      const isStale = reusedSocket && isSilent && ['ECONNRESET', 'EPIPE'].includes(failure.detail);
      settle({ outcome: 'failed', isConnected: stage !== 'connecting', isStale, ...failure });
      outgoing.destroy();
    };
    outgoing.on('socket', socket => {
      bytesBefore = socket.bytesRead;
      watches.push(
        watchHeaders(outgoing, socket, () => fail({ kind: 'connection', detail: 'headers too long' })),
        watchTickets(socket, () => fail({ kind: 'tls', detail: 'too many session tickets' })),
      );
      if (outgoing.reusedSocket) {
        stage = 'talking';
        return; // it will not connect again: a listener would stay for as long as the connection is kept
      }
      watches.push(
        watchConnecting(socket, connectTimeoutMs, () =>
          fail({ kind: 'connection', detail: `no connection in ${connectTimeoutMs} ms` }),
        ),
      );
      socket.once('connect', () => {
        stage = 'securing';
        request.onConnected();
      });
      socket.once('secureConnect', () => {
        stage = 'talking';
      });
    });
    outgoing.on('information', () => {
      informational += 1;
      if (informational > maximumInformational)
        fail({ kind: 'connection', detail: 'too many informational responses' });
    });
    outgoing.on('response', response => {
      hasResponse = true;
      request.onAnswered();
      const { statusCode = 0, headers: received } = response;
      settle(
        readBodyStart(response, signal).then(start => ({
          outcome: 'response',
          status: statusCode,
          headers: received,
          ...start,
        })),
      );
    });
    outgoing.on('error', error => fail(classifyFailure(error, stage)));
    // A protocol switch nobody asked for (status 101) ends in a close without an error.
    outgoing.on('close', () => fail({ kind: 'connection', detail: 'closed' }));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    else outgoing.end(body);
  }).catch((error): ExchangeOutcome => {
    return { outcome: 'failed', isConnected: false, isStale: false, kind: 'internal_error', detail: codeOf(error) };
  });
}

/** Informational responses (RFC 9110 section 15.2) before the final one; nobody needs as many. */
const maximumInformational = 16;
