import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A DNS server on loopback. */
export interface NameServer {
  readonly port: number;
  stop(): void;
}

/** Starts a DNS server that knows IPv4 addresses, and of other types of record nothing. */
export async function startNameServer(addressOf: (name: string) => string | undefined): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => socket.send(answerTo(question, addressOf), port, address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, stop: () => socket.close() };
}

/** Answers a DNS message with one question (RFC 1035, section 4). */
export function answerTo(message: Buffer, addressOf: (name: string) => string | undefined): Buffer {
  const labels: string[] = [];
  let at = header;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const question = message.subarray(header, at + 5); // the root label, type and class
  const address = addressOf(labels.join('.'));
  const isAnswered = address !== undefined && message.readUInt16BE(at + 1) === typeA;
  const head = Buffer.alloc(header);
  head.writeUInt16BE(message.readUInt16BE(0), 0);
  head.writeUInt16BE(0x8180 | (address === undefined ? nonexistent : 0), 2); // a recursive answer
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(isAnswered ? 1 : 0, 6);
  return Buffer.concat([head, question, isAnswered ? recordOf(address) : Buffer.alloc(0)]);
}

const header = 12;
const typeA = 1;
const nonexistent = 3;

/** Returns an A record of the name in question, for a minute. */
function recordOf(address: string): Buffer {
  return Buffer.from([0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]);
}
