import type { Clock } from '../clock.ts';
import type { Pause } from '../timer.ts';

/** A clock and a pause, in real or virtual time. */
export interface Waiting {
  readonly now: Clock;
  readonly pause: Pause;
}

/**
 * Calls AWS and retries every 5 s after a transient failure. Examples are an IAM permission that is not effective yet, throttling, and an
 * unresponsive dependency. The call must be idempotent.
 *
 * @param maxRetryTime - the maximum time for retries, in milliseconds
 * @throws the last failure.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
 */
export async function withRetries<Result>(
  { now, pause }: Waiting,
  maxRetryTime: number,
  call: () => Promise<Result>,
): Promise<Result> {
  const deadline = now() + maxRetryTime;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || now() + interval > deadline) throw error;
      await pause(interval);
    }
  }
}

/** The error name of a self-check if a dependency did not respond. */
export const noResponse = 'NoResponse';

const interval = 5_000;

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const status = '$metadata' in error ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode : undefined;
  const names = [error.name, 'code' in error ? error.code : undefined];
  return (
    names.some(name => transient.includes(String(name))) || status === 429 || (status !== undefined && status >= 500)
  );
}

const transient = [
  'AccessDenied',
  'AccessDeniedException',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  noResponse,
  'Throttling',
  'ThrottlingException',
  'TimeoutError',
];
