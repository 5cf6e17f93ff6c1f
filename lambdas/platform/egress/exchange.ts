import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { classifyFailure, codeOf, type Failure } from './failure.ts';

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
  /** The deadline: before the response's headers it ends the exchange, afterwards only the reading. */
  readonly signal: AbortSignal;
}

/** What came of one exchange. */
export type ExchangeOutcome =
  | {
      readonly outcome: 'response';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** What was read of the body, at most 64 KiB. */
      readonly body: Buffer;
      /** Whether that is not all of it, and may end in the middle of something. */
      readonly isCut: boolean;
    }
  | { readonly outcome: 'aborted' }
  | ({
      readonly outcome: 'failed';
      /** Whether a kept-alive connection was closed before it brought any response byte: the receiver may not be at fault. */
      readonly isStale: boolean;
    } & Failure);

/** The most bytes of a response's header section; Node answers more with an error. */
const maximumHeaderBytes = 16 * 1_024;
/** The most bytes that are read of a response's body. */
const maximumBodyBytes = 64 * 1_024;
/** Informational responses (RFC 9110 section 15.2) before the final one; nobody needs as many. */
const maximumInformational = 16;

/** Reads a body until its end, its limit, its failure or the deadline, whichever comes first, and gives what there is. */
const readBody = (response: IncomingMessage, signal: AbortSignal): Promise<{ body: Buffer; isCut: boolean }> =>
  new Promise(resolve => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = () => {
      signal.removeEventListener('abort', finish);
      if (!response.complete) response.destroy(); // the connection is not fit for another exchange
      resolve({
        body: Buffer.concat(chunks).subarray(0, maximumBodyBytes),
        isCut: !response.complete || length > maximumBodyBytes,
      });
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maximumBodyBytes) finish();
    });
    response.on('end', finish).on('error', finish).on('close', finish);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });

/** Sends one POST and waits for the answer. Redirects are answers like any other. Never rejects. */
export const exchange = ({ agent, address, port, serverName, path, headers, body, signal }: Exchange) =>
  new Promise<ExchangeOutcome>(resolve => {
    let isSecure = false;
    let bytesBefore = 0;
    let informational = 0;
    let hasResponse = false;
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
      signal.removeEventListener('abort', abort);
      resolve(outcome);
    };
    const abort = () => {
      settle({ outcome: 'aborted' });
      outgoing.destroy();
    };
    const fail = (failure: Failure) => {
      if (hasResponse) return; // what breaks now ends the body: `readBody` sees it too
      const { socket, reusedSocket } = outgoing;
      const isSilent = (socket?.bytesRead ?? 0) === bytesBefore;
      const isStale = reusedSocket && isSilent && ['ECONNRESET', 'EPIPE'].includes(failure.detail);
      settle({ outcome: 'failed', isStale, ...failure });
      outgoing.destroy();
    };
    outgoing.on('socket', socket => {
      isSecure = outgoing.reusedSocket;
      bytesBefore = socket.bytesRead;
      if (isSecure) return; // it will not connect again: a listener would stay for as long as the connection is kept
      socket.once('secureConnect', () => {
        isSecure = true;
      });
    });
    outgoing.on('information', () => {
      informational += 1;
      if (informational > maximumInformational)
        fail({ kind: 'connection', detail: 'too many informational responses' });
    });
    outgoing.on('response', response => {
      hasResponse = true;
      const { statusCode = 0, headers: received } = response;
      settle(
        readBody(response, signal).then(read => ({
          outcome: 'response',
          status: statusCode,
          headers: received,
          ...read,
        })),
      );
    });
    outgoing.on('error', error => fail(classifyFailure(error, isSecure)));
    // A protocol switch nobody asked for (status 101) ends in a close without an error.
    outgoing.on('close', () => fail({ kind: 'connection', detail: 'closed' }));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    else outgoing.end(body);
  }).catch(
    (error): ExchangeOutcome => ({ outcome: 'failed', kind: 'own_fault', detail: codeOf(error), isStale: false }),
  );
