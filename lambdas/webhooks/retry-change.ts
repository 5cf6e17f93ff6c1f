import { type MakeProblem, retryAfter } from '../api/problem.ts';
import type { Pause } from '../platform/timer.ts';

/**
 * Creates the function that retries a change to a webhook or its latest replay with exponential backoff and full jitter. `change` returns
 * `undefined` if a concurrent request changed the item first.
 */
export function makeRetryChange({ pause, random }: { readonly pause: Pause; readonly random: () => number }) {
  /** @throws {Problem} 503 if a concurrent request changed the item first in every try. */
  return async function retryChange<Changed>(
    makeProblem: MakeProblem<'concurrent_change'>,
    change: () => Promise<Changed | undefined>,
  ): Promise<Changed> {
    for (let tries = 1; ; tries++) {
      const changed = await change();
      if (changed !== undefined) return changed;
      if (tries === maxTries) throw makeProblem('concurrent_change', { headers: retryAfter(1) });
      await pause(Math.round(random() * Math.min(maxWait, firstWait * 2 ** (tries - 1))));
    }
  };
}

/** A try fails only if another change succeeds, so 10 concurrent changes need at most 10 tries. */
const maxTries = 10;

/** The upper bounds of the first wait and of every wait, in milliseconds. The sum of all waits is at most 2.6 s. */
const [firstWait, maxWait] = [20, 500];
