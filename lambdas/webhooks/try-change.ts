import { type Refuse, retryAfter } from '../api/problem.ts';
import type { Pause } from '../platform/timer.ts';

/**
 * Makes what changes a webhook, or its latest replay, that others change at the same time. A change returns `undefined` where another came before it: it is
 * tried again after a wait, exponential with full jitter.
 */
export function makeTryChange({ pause, random }: { readonly pause: Pause; readonly random: () => number }) {
  /** @throws {Problem} where others came before it each time. */
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

/** Each try that fails means that another change has succeeded. So ten changes at once need ten tries at most. */
const maxTries = 10;

/** The bounds of the waits, in milliseconds: 2.6 s in all at most. */
const [firstWait, maxWait] = [20, 500];
