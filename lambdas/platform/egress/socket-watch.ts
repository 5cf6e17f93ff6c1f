import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';

/** The most bytes of a response's header section. */
export const maximumHeaderBytes = 16 * 1_024;

/**
 * Calls back unless the socket connects in time. A timer that fires because the process was busy for that long finds the
 * socket connected, once what has happened meanwhile was looked at: our slowness is not the receiver's. Gives what ends
 * the watch.
 */
export function watchConnecting(socket: Socket, milliseconds: number, onLate: () => void): () => void {
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
 * Calls back once more bytes have come than a header section may have. Node's own limit leaves out line ends before a
 * response and blanks before a header's value, and it would read those for as long as they come. Gives what ends the
 * watch: a kept connection keeps its listeners.
 */
export function watchHeaders(outgoing: ClientRequest, socket: Socket, onTooLong: () => void): () => void {
  let bytes = 0;
  const restart = () => {
    bytes = Number.NEGATIVE_INFINITY; // the rest of its packet belongs to the next response
  };
  const count = ({ length }: Buffer) => {
    bytes = Math.max(bytes + length, 0);
    if (bytes > maximumHeaderBytes) onTooLong();
  };
  outgoing.on('information', restart);
  socket.on('data', count); // Node's parser was called before, and has told of all that is complete
  return () => {
    outgoing.off('information', restart);
    socket.off('data', count);
  };
}

/**
 * Calls back when a receiver hands out more session tickets than it can mean (RFC 8446 section 4.6.1): each costs us more
 * work than it costs the receiver, and none of it is seen by whoever reads the response. Gives what ends the watch.
 */
export function watchTickets(socket: Socket, onTooMany: () => void): () => void {
  let tickets = 0;
  const count = () => {
    tickets += 1;
    if (tickets > maximumTickets) onTooMany();
  };
  socket.on('session', count);
  return () => {
    socket.off('session', count);
  };
}

/** Servers hand out two, as a rule, and a few more after their own key has changed. */
const maximumTickets = 16;
