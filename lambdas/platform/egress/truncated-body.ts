import type { IncomingMessage } from 'node:http';

/** The start of a response's body. */
export interface TruncatedBody {
  /** At most `maximumBodyBytes`. */
  readonly body: Buffer;
  /** True if the body continued, so that the text may end anywhere. */
  readonly isTruncated: boolean;
}

/** Maximum number of body bytes that are read. */
export const maximumBodyBytes = 1_024;

/**
 * Reads a body until its end, 1 KiB, a failure, 1 s or the signal, whichever comes first, and returns the bytes read. Closes the
 * connection if the body continues.
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
      length += chunk.length; // counts discarded bytes too, to detect truncation
      if (isOver) return;
      chunks.push(chunk);
      // The same packet may contain the end of the body. The connection can then be reused.
      if (length >= maximumBodyBytes) process.nextTick(finish);
    });
    response.on('end', finish).on('error', finish).on('close', finish);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });
}

/** Maximum time to read a body, in milliseconds. */
const timeoutMs = 1_000;
