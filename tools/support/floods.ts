import { createServer } from 'node:tls';
import { makeChain, randomRsaKey } from './certificate-chain.ts';
import type { Act, HostileConnection } from './hostile-tls.ts';
import { listen } from './listen.ts';
import { type RecordWriter, sessionTicket } from './tls-records.ts';

/** Traffic that costs the service more than it costs the receiver that sends it. */
export interface Flood {
  readonly name: string;
  /** Creates the bytes that the receiver sends repeatedly. */
  readonly burst: (records: RecordWriter) => Buffer;
  /** The HTTP text that the receiver sends before the first burst. */
  readonly first?: string;
  /** True if `first` is a complete response, and the flood starts when the connection is idle. */
  readonly whenIdle?: boolean;
  readonly version?: 'TLSv1.2';
}

const keyUpdates = (records: RecordWriter) => times(20, () => records.keyUpdate(false));
const requestedKeyUpdates = (records: RecordWriter) => times(20, () => records.keyUpdate(true));
const emptyRecords = (records: RecordWriter) => times(20, () => records.record('data', Buffer.alloc(0)));
const packedTickets = (records: RecordWriter) => records.record('handshake', times(800, sessionTicket));

/** The start of a response with an incomplete body. */
const openBody = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome';
const noContent = 'HTTP/1.1 204 No Content\r\n\r\n';

/** Floods before the last header, in a body, and on idle connections. */
export const floods: readonly Flood[] = [
  { name: 'KeyUpdates', burst: keyUpdates },
  { name: 'KeyUpdates that request a KeyUpdate', burst: requestedKeyUpdates },
  { name: 'KeyUpdates that request a KeyUpdate, in a body', burst: requestedKeyUpdates, first: openBody },
  { name: 'KeyUpdates that request a KeyUpdate, idle', burst: requestedKeyUpdates, first: noContent, whenIdle: true },
  { name: 'empty records', burst: emptyRecords },
  { name: 'empty records, in a body', burst: emptyRecords, first: openBody },
  { name: 'records of one byte', burst: records => times(20, () => records.record('data', Buffer.from('\n'))) },
  { name: 'records of padding', burst: records => times(4, () => records.record('data', Buffer.alloc(0), 16_000)) },
  { name: 'session tickets', burst: records => times(20, () => records.record('handshake', sessionTicket())) },
  { name: 'session tickets, 800 in a record', burst: packedTickets },
  { name: 'session tickets, 800 in a record, in a body', burst: packedTickets, first: openBody },
  { name: '100 Continue', burst: records => times(5, () => text(records, 'HTTP/1.1 100 Continue\r\n\r\n')) },
  {
    name: '103 Early Hints',
    burst: records => text(records, 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(50)),
  },
  { name: 'line breaks', burst: records => text(records, '\r\n'.repeat(8_000)) },
  {
    name: 'renegotiation requests, 4,000 in a record',
    burst: records => records.record('handshake', Buffer.alloc(16_000)),
    version: 'TLSv1.2',
  },
  {
    name: 'warnings',
    burst: records => times(20, () => records.record('alert', Buffer.of(1, 90))),
    version: 'TLSv1.2',
  },
];

/** Sends a burst repeatedly until the connection closes. */
export async function sendFlood({ records, write, isOpen }: HostileConnection, burst: Flood['burst']): Promise<void> {
  while (isOpen()) {
    await write(burst(records));
    await new Promise(setImmediate);
  }
}

/** Returns an `Act` that sends a flood after a request. */
export function playFlood({ burst, first, whenIdle }: Flood): Act {
  return async connection => {
    if (first !== undefined) await connection.write(text(connection.records, first));
    if (whenIdle) await new Promise(resolve => setTimeout(resolve, idleAfter));
    await sendFlood(connection, burst);
  };
}

/** Starts a receiver with a certificate chain of the largest RSA keys that OpenSSL accepts. */
export async function startHugeChain(host: string) {
  const { key, certificate } = makeChain(host, 93_000, () => randomRsaKey(16_384, Buffer.of(1, 0, 1)));
  const server = createServer({ key, cert: certificate, ciphers: 'DEFAULT:@SECLEVEL=0' });
  server.on('tlsClientError', () => undefined);
  return { port: await listen(server), stop: () => void server.close() };
}

function text(records: RecordWriter, content: string): Buffer {
  return records.record('data', Buffer.from(content));
}

function times(count: number, make: () => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, make));
}

/** The time in milliseconds that the client needs to read the response and pool the connection. */
const idleAfter = 20;
