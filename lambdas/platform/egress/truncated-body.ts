import type { IncomingMessage } from 'node:http';

/** The beginning of a response's body. */
export interface TruncatedBody {
  /** At most `maximumBodyBytes`. */
  readonly body: Buffer;
  /** True when the body went on, so that this may end in the middle of something. */
  readonly isTruncated: boolean;
}

/** The most bytes of a response's body that are read and kept. */
export const maximumBodyBytes = 1_024;

/**
 * Reads a body until its end, its first KiB, its failure, one second or the signal, whichever comes first, and returns what it
 * has read. The connection is closed when the body goes on.
 */
export function readTruncatedBody(response: IncomingMessage, signal: AbortSignal): Promise<TruncatedBody> {
  return new Promise(resolve => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      if (!response.complete) response.destroy();
      resolve({
        body: Buffer.concat(chunks).subarray(0, maximumBodyBytes),
        isTruncated: !response.complete || length > maximumBodyBytes,
      });
    };
    const timer = setTimeout(finish, timeoutMs);
    response.on('data', (chunk: Buffer) => {
      const isOver = length >= maximumBodyBytes;
      length += chunk.length; // also where it is not kept: the body goes on
      if (isOver) return;
      chunks.push(chunk);
      // The rest of the same packet may hold the body's end: then the connection can be used again.
      if (length >= maximumBodyBytes) process.nextTick(finish);
    });
    response.on('end', finish).on('error', finish).on('close', finish);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });
}

/** The longest time that a body is read, in milliseconds. */
const timeoutMs = 1_000;
