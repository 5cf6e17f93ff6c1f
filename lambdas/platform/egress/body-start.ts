import type { IncomingMessage } from 'node:http';

/** What was read of a response's body. */
export interface BodyStart {
  /** At most `keptBytes`. */
  readonly body: Buffer;
  /** Whether that is not all of it, and may end in the middle of something. */
  readonly isCut: boolean;
}

/** The most bytes that are read, and kept, of a response's body. */
export const keptBytes = 1_024;

/**
 * Reads a body until its end, its first KiB, its failure or the end of patience, whichever comes first, and gives what
 * there is. The connection of a body that goes on is closed.
 */
export function readBodyStart(response: IncomingMessage, signal: AbortSignal): Promise<BodyStart> {
  return new Promise(resolve => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      if (!response.complete) response.destroy();
      resolve({
        body: Buffer.concat(chunks).subarray(0, keptBytes),
        isCut: !response.complete || length > keptBytes,
      });
    };
    const timer = setTimeout(finish, patienceMs);
    response.on('data', (chunk: Buffer) => {
      if (length >= keptBytes) return;
      chunks.push(chunk);
      length += chunk.length;
      // The rest of the same packet may hold the body's end: the connection is fit for another exchange then.
      if (length >= keptBytes) process.nextTick(finish);
    });
    response.on('end', finish).on('error', finish).on('close', finish);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });
}

/** How long a body is read, in milliseconds. */
const patienceMs = 1_000;
