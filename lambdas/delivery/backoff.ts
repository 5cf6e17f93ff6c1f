/** No receiver may ask for a longer wait (`Retry-After`). */
export const maxRetryAfter = 24 * 60 * 60_000;

/**
 * Returns the wait of a delivery that found no place in the slow lane, in milliseconds: as long again as it is old, and twice that at
 * most, so that a backlog of any size is spread out by few waits each.
 */
export function slowLaneWait(age: number, random: () => number): number {
  return Math.min(Math.max(2 * age, 30_000), 24 * 60 * 60_000) * (0.5 + 0.5 * random());
}

/** After this wait a hanging webhook is known to be slow. The jitter keeps a burst from reaching the retry lane at once. */
export function webhookLimitWait(random: () => number): number {
  return 2_000 * (1 + random());
}

/** Draws from [0, 1); passed in, so that tests can foresee it. */
export type Random = () => number;

/**
 * The exponential backoff: the wait before the next retry in milliseconds, or `undefined` when the retry schedule is
 * exhausted. The schedule (`retrySchedule` in `lib/stage-values.ts`) holds the growing waits. Each wait has jitter over its last fifth
 * (times U(0.8, 1)), so that deliveries that failed together do not come back together.
 */
export function backoffWait(
  schedule: readonly number[],
  {
    charged,
    retryAfterMs = 0,
  }: {
    /** Attempts charged against the schedule so far, the failed one included: 1 after the first failure. */
    readonly charged: number;
    /** The wait that the receiver asked for, in milliseconds. */
    readonly retryAfterMs?: number | undefined;
  },
  random: Random,
): number | undefined {
  const wait = schedule[charged - 1];
  if (wait === undefined) return undefined;
  return Math.max(withJitter(wait, random), Math.min(retryAfterMs, maxRetryAfter));
}

/** Returns the wait after an internal error, in milliseconds: exponential from 1 min to 15. `count`: how many in a row, with this one. */
export function internalErrorWait(count: number): number {
  return Math.min(minute * 2 ** (count - 1), 15 * minute);
}

/**
 * The wait a `Retry-After` header asks for, in milliseconds (RFC 9110 section 10.2.3: seconds or a date). It counts only
 * with 429 and 503; what is malformed or past asks for nothing.
 */
export function retryAfterWait(status: number, retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined || (status !== 429 && status !== 503)) return undefined;
  const value = retryAfter.trim();
  if (/^\d+$/.test(value)) return Math.min(Number(value) * second, maxRetryAfter);
  const date = parseHttpDate(value);
  return date > now ? Math.min(date - now, maxRetryAfter) : undefined;
}

const second = 1_000;
const minute = 60 * second;

function withJitter(wait: number, random: Random): number {
  return Math.round(wait * (0.8 + 0.2 * random()));
}

/** The three forms of RFC 9110 section 5.6.7. The oldest does not say that it is in GMT. */
function parseHttpDate(value: string): number {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(value)) return Number.NaN;
  return Date.parse(value.endsWith(' GMT') ? value : `${value} GMT`);
}
