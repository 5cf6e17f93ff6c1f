import type { Socket } from 'node:net';
import { afterElapsed, afterEvents } from '../timer.ts';

/**
 * Calls back unless the socket connects in time, by a clock that stands still while this process does. Returns what ends the
 * watch.
 */
export function limitConnectTime(
  socket: Socket,
  elapsed: () => number,
  milliseconds: number,
  onLate: () => void,
): () => void {
  const end = afterElapsed(afterEvents, elapsed, milliseconds, onLate);
  socket.once('connect', end);
  return end;
}
