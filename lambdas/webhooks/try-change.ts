import { type Refuse, retryAfter } from '../api/problem.ts';
import type { Pause } from '../platform/timer.ts';

/**
 * Creates the retry of changes to a webhook, or its latest replay, that concurrent requests may change too. A change returns
 * `undefined` if another one came first. It is then retried with exponential backoff and full jitter.
 */
export function makeTryChange({ pause, random }: { readonly pause: Pause; readonly random: () => number }) {
  /** @throws {Problem} if another change came first each time. */
  return async function tryChange<Changed>(
    refuse: Refuse<'contended'>,
    change: () => Promise<Changed | undefined>,
  ): Promise<Changed> {
    for (let tries = 1; ; tries++) {
      const changed = await change();
      if (changed !== undefined) return changed;
      if (tries === maxTries) throw refuse('contended', { headers: retryAfter(1) });
      await pause(Math.round(random() * Math.min(maxWait, firstWait * 2 ** (tries - 1))));
    }
  };
}

/** A try fails only if another change succeeds, so 10 concurrent changes need at most 10 tries. */
const maxTries = 10;

/** Minimum and maximum wait in milliseconds, in total at most 2.6 s. */
const [firstWait, maxWait] = [20, 500];
