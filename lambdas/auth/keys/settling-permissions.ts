import type { Clock } from '../../platform/clock.ts';
import { describeError, type Log } from '../../platform/telemetry.ts';
import type { Pause } from '../../platform/timer.ts';

/**
 * Repeats an idempotent task while IAM refuses it, for 40 seconds at most. The permissions of a new role take some seconds until
 * all of AWS knows them, and the first deployment uses them at once:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
 */
export async function awaitPermissions<Result>(
  task: () => Promise<Result>,
  { now, pause, log }: { readonly now: Clock; readonly pause: Pause; readonly log: Log },
): Promise<Result> {
  const lastRepetition = now() + retryLimit;
  for (let wait = firstWait; ; wait *= 2) {
    try {
      return await task();
    } catch (error) {
      if (!isRefused(error) || now() + wait > lastRepetition) throw error;
      log.warn('keys.refused', describeError(error));
      await pause(wait);
    }
  }
}

/** Milliseconds. The function's own time is a minute, and a refused call takes well under a second. */
const retryLimit = 40_000;
const firstWait = 1_000;

function isRefused(error: unknown): boolean {
  return error instanceof Error && error.name === 'AccessDeniedException';
}
