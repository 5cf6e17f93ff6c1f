import type { Clock } from '../clock.ts';
import type { Pause } from '../timer.ts';

/** Waits for real or virtual time. */
export interface Waiting {
  readonly now: Clock;
  readonly pause: Pause;
}

/**
 * Calls AWS and retries every 5 s after a transient failure: a new IAM permission that is not effective yet, throttling, or a
 * dependency that does not respond. The call must be idempotent.
 *
 * @param patience - in milliseconds.
 * @throws the last failure.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
 */
export async function withPatience<Answer>(
  { now, pause }: Waiting,
  patience: number,
  call: () => Promise<Answer>,
): Promise<Answer> {
  const deadline = now() + patience;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!mayPass(error) || now() + interval > deadline) throw error;
      await pause(interval);
    }
  }
}

/** The error name of a self-check whose dependency did not respond. */
export const notAnswered = 'NotAnswered';

const interval = 5_000;

function mayPass(error: unknown): boolean {
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
  notAnswered,
  'Throttling',
  'ThrottlingException',
  'TimeoutError',
];
