import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';

/** The most bytes of a response's header section. */
export const maximumHeaderBytes = 16 * 1_024;

/**
 * Calls back unless the socket connects in time. When the timer fires late because the process was busy, the events of that
 * time are handled first: our slowness is not the receiver's. Gives a function that ends the watch.
 */
export function limitConnectTime(socket: Socket, milliseconds: number, onLate: () => void): () => void {
  let check: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    check = setImmediate(onLate);
  }, milliseconds);
  const end = () => {
    clearTimeout(timer);
    clearImmediate(check);
  };
  socket.once('connect', end);
  return end;
}

/**
 * Calls back when a header section is too long. Node's own limit does not count line ends before a response or blanks before
 * a header's value, and Node would read those for ever. Gives a function that ends the watch: a kept connection keeps its
 * listeners.
 */
export function limitHeaderBytes(outgoing: ClientRequest, socket: Socket, onTooLong: () => void): () => void {
  let bytes = 0;
  const restart = () => {
    bytes = Number.NEGATIVE_INFINITY; // the rest of its packet belongs to the next response
  };
  const count = ({ length }: Buffer) => {
    bytes = Math.max(bytes + length, 0);
    if (bytes > maximumHeaderBytes) onTooLong();
  };
  outgoing.on('information', restart);
  socket.on('data', count); // Node's parser runs first, and has emitted all that is complete
  return function end() {
    outgoing.off('information', restart);
    socket.off('data', count);
  };
}

/**
 * Calls back when a receiver sends more session tickets (RFC 8446 section 4.6.1) than any server needs: each costs us more
 * work than it costs the receiver, and the response does not show them. Gives a function that ends the watch.
 */
export function limitSessionTickets(socket: Socket, onTooMany: () => void): () => void {
  let tickets = 0;
  const count = () => {
    tickets += 1;
    if (tickets > maximumTickets) onTooMany();
  };
  socket.on('session', count);
  return function end() {
    socket.off('session', count);
  };
}

/** Servers usually send two, and a few more after their own key has changed. */
const maximumTickets = 16;
