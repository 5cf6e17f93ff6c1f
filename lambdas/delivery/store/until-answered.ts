import { isUnavailable } from '../../platform/aws/dynamo.ts';
import type { Time } from '../../platform/timer.ts';

/**
 * Repeats a write that gets no answer, with backoff, for as long as its store allows since `begun`: an outcome that is not stored
 * is a second POST. `failure` is that of an earlier try. Throws the last failure.
 */
export type UntilAnswered = <Result>(begun: number, write: () => Promise<Result>, failure?: unknown) => Promise<Result>;

export function makeUntilAnswered({
  retryForMs,
  now,
  pause,
}: {
  /** The time that a write is repeated for, in milliseconds. */
  readonly retryForMs: number;
} & Pick<Time, 'now' | 'pause'>): UntilAnswered {
  return async function untilAnswered(begun, write, failure) {
    let failed = failure;
    let wait = firstPause;
    for (;;) {
      if (failed !== undefined) {
        if (!isUnavailable(failed) || now() - begun + wait > retryForMs) throw failed;
        await pause(wait);
        wait *= 2;
      }
      try {
        return await write();
      } catch (error) {
        failed = error;
      }
    }
  };
}

/** Milliseconds, doubling. */
const firstPause = 100;
