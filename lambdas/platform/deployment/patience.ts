import type { Clock } from '../clock.ts';

export interface Waiting {
  readonly pause: (milliseconds: number) => Promise<unknown>;
  readonly now: Clock;
}

/**
 * Makes a call of AWS, and repeats it where it was refused for now.
 *
 * @param patience - milliseconds in which it is repeated. With the two minutes of the longest call the default ends before its function.
 * @throws what it failed with at last.
 */
export async function withPatience<Answer>(
  { pause, now }: Waiting,
  call: () => Promise<Answer>,
  patience = 180_000,
): Promise<Answer> {
  const deadline = now() + patience;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!passesByItself(error) || now() >= deadline) throw error;
      await pause(interval);
    }
  }
}

/** The name of the error of a version that answered its trial with a fault of what it calls. */
export const notAnswered = 'NotAnswered';

/** Settings of clients whose calls are repeated here. Without them a call that nobody answers would never end. */
export const patientCalls = { maxAttempts: 1, requestHandler: { requestTimeout: 20_000, throwOnRequestTimeout: true } };

/** Milliseconds between two calls. */
const interval = 5_000;

/**
 * Recognises a call that AWS refused for now, or did not answer: what is throttled, a function without a free place, a resource that
 * somebody else changes, a permission that IAM does not know yet. All these calls may be made twice. A version that ran and failed fails
 * again, unless its role was refused something, or its answer tells a fault.
 */
function passesByItself(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const status = '$metadata' in error ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode : undefined;
  const isUnanswered = [error.name, 'code' in error && error.code].some(word => unanswered.includes(String(word)));
  return isUnanswered || passing.includes(error.name) || status === 429 || (status !== undefined && status >= 500);
}

const unanswered = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'TimeoutError'];

const passing = [
  'AccessDenied',
  'AccessDeniedException',
  'ConflictException',
  notAnswered,
  'ResourceConflictException',
  'Throttling',
  'ThrottlingException',
];
