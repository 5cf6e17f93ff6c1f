import type { IncomingHttpHeaders } from 'node:http';
import { type Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { afterEvents } from '../timer.ts';
import type { BudgetedOptions } from './byte-budget.ts';
import { type Connections, makeConnections } from './connections.ts';
import { classifyNetworkError, errorCode, type NetworkError, type RequestPhase } from './network-error.ts';
import { readTruncatedBody, type TruncatedBody } from './truncated-body.ts';

/** Sends one POST to an address that the SSRF guard has allowed. Never rejects. */
export type PinnedPost = (request: PinnedRequest) => Promise<PinnedRequestOutcome>;

interface PinnedRequest extends BudgetedOptions {
  /** The pool to use. `reusable` may reuse an idle connection, and `fresh` opens a new connection. */
  readonly connection: keyof Connections;
  readonly address: string;
  readonly port: number;
  /** The name for SNI and the certificate. It is empty for an IP literal, which SNI does not allow (RFC 6066 section 3). */
  readonly serverName: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
  /** The timeout of the TCP connection in milliseconds. Only the signal limits the TLS handshake. */
  readonly connectTimeoutMs: number;
  /** Aborts the request. After the last response header, the signal only stops reading the body. */
  readonly signal: AbortSignal;
  /** Called when the last response header has arrived. */
  readonly onResponse: () => void;
}

export type PinnedRequestOutcome =
  | ({
      readonly outcome: 'response';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
    } & TruncatedBody)
  | { readonly outcome: 'aborted' /** True if TCP connected. */; readonly isConnected: boolean }
  | ({
      readonly outcome: 'failed';
      /** True if TCP connected. If false, no data was sent, and the caller may try another address. */
      readonly isConnected: boolean;
      /** True if a reused connection closed before the first response byte, which is not a failure of the receiver. */
      readonly isStale: boolean;
    } & NetworkError);

/**
 * Creates a sender of POSTs to a specific address. It does not resolve names, so DNS rebinding cannot replace an allowed address between
 * check and use. `host` is the address, and `servername` and the `Host` header are the name. A pinned `lookup` would be unsafe, because
 * it is not part of the agent's pool key, and a connection to another address could be reused. Redirects are normal responses.
 */
export function makePinnedPost(connections: Connections = makeConnections()): PinnedPost {
  return function pinnedPost(request) {
    return send(request, connections[request.connection]);
  };
}

function send(request: PinnedRequest, agent: Agent): Promise<PinnedRequestOutcome> {
  return new Promise<PinnedRequestOutcome>(resolve => {
    const { accountId, address, port, serverName, path, headers, body, connectTimeoutMs, signal } = request;
    let phase: RequestPhase = 'connect';
    let bytesBefore = 0;
    let hasResponse = false;
    let endConnectTime = () => {};
    const options: RequestOptions & BudgetedOptions = {
      agent,
      accountId,
      host: address,
      port,
      servername: serverName,
      method: 'POST',
      path,
      headers,
      maxHeaderSize: maximumHeaderBytes,
    };
    const outgoing = httpsRequest(options);
    const settle = (outcome: PinnedRequestOutcome | Promise<PinnedRequestOutcome>) => {
      endConnectTime();
      signal.removeEventListener('abort', abort);
      resolve(outcome);
    };
    const abort = () => {
      settle({ outcome: 'aborted', isConnected: phase !== 'connect' });
      outgoing.destroy();
    };
    const fail = (failure: NetworkError) => {
      if (hasResponse) return; // `readTruncatedBody` handles errors of the body
      const { socket, reusedSocket } = outgoing;
      const isSilent = (socket?.bytesRead ?? 0) === bytesBefore;
      const isStale = reusedSocket && isSilent && ['ECONNRESET', 'EPIPE'].includes(failure.errorCode);
      settle({ outcome: 'failed', isConnected: phase !== 'connect', isStale, ...failure });
      outgoing.destroy();
    };
    outgoing.on('socket', socket => {
      bytesBefore = socket.bytesRead;
      if (outgoing.reusedSocket) {
        phase = 'http';
        return; // the connection exists, and listeners would remain on it for its lifetime
      }
      endConnectTime = afterEvents(connectTimeoutMs, () =>
        fail({ kind: 'timeout', cause: 'connecting', errorCode: 'CONNECT_TIMEOUT' }),
      );
      socket.once('connect', () => {
        endConnectTime();
        phase = 'tls';
      });
      socket.once('secureConnect', () => {
        phase = 'http';
      });
    });
    outgoing.on('response', response => {
      hasResponse = true;
      const { statusCode: status = 0, headers: responseHeaders } = response;
      request.onResponse();
      settle(
        readTruncatedBody(response, signal).then(body => ({
          outcome: 'response',
          status,
          headers: responseHeaders,
          ...body,
        })),
      );
    });
    outgoing.on('error', error => fail(classifyNetworkError(error, phase)));
    // An unsolicited protocol switch (status 101) closes the connection without an error.
    outgoing.on('close', () => fail({ kind: 'connection', cause: 'invalid_response', errorCode: 'CLOSED' }));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    else outgoing.end(body);
  }).catch((error): PinnedRequestOutcome => {
    const failure = { kind: 'internal_error', cause: null, errorCode: errorCode(error) } as const;
    return { outcome: 'failed', isConnected: false, isStale: false, ...failure };
  });
}

/** The maximum size of the response headers in bytes. */
const maximumHeaderBytes = 16 * 1_024;
