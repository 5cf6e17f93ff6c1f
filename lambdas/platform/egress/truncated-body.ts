import type { IncomingMessage } from 'node:http';

export interface TruncatedBody {
  /** The first bytes of the body, at most `maximumBodyBytes`. */
  readonly body: Buffer;
  /** True if the body was longer or incomplete, so the text may end anywhere. */
  readonly isTruncated: boolean;
}

/** The maximum number of body bytes that are returned. */
export const maximumBodyBytes = 1_024;

/**
 * Reads a body until it ends, fails or exceeds 1 KiB, 1 s has passed, or the signal aborts. Returns the bytes that were read. Closes the
 * connection if the body is incomplete.
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
      length += chunk.length; // includes discarded bytes, to detect truncation
      if (isOver) return;
      chunks.push(chunk);
      // If the same packet contains the end of the body, the connection can be reused.
      if (length >= maximumBodyBytes) process.nextTick(finish);
    });
    response.on('end', finish).on('error', finish).on('close', finish);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });
}

const timeoutMs = 1_000;
