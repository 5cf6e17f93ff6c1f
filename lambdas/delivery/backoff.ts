/** The maximum wait that a receiver can request with `Retry-After`, in milliseconds. */
export const maxRetryAfter = 24 * 60 * 60_000;

/**
 * Returns the wait in milliseconds for a delivery whose webhook has used its slots in the slow lane. The wait is one to two times the
 * delivery's age, so a backlog spreads out after a few waits.
 */
export function slowLaneWait(age: number, random: () => number): number {
  return Math.min(Math.max(2 * age, 30_000), 24 * 60 * 60_000) * (0.5 + 0.5 * random());
}

/** Returns a wait that is long enough for a hanging webhook to be recorded as slow. The jitter spreads the retries of a burst. */
export function webhookLimitWait(random: () => number): number {
  return 2_000 * (1 + random());
}

/** Returns a random number in [0, 1). Tests pass a fixed sequence. */
export type Random = () => number;

/**
 * Returns the wait before the next retry in milliseconds, or `undefined` if the retry schedule is exhausted. The waits in the schedule
 * (`retrySchedule` in `lib/stage-values.ts`) increase. Jitter shortens each wait by up to 20%, so deliveries that failed together are not
 * retried together.
 */
export function backoffWait(
  schedule: readonly number[],
  {
    charged,
    retryAfterMs = 0,
  }: {
    /** The number of attempts charged against the schedule so far, including the latest failure. */
    readonly charged: number;
    /** The wait that the receiver requested, in milliseconds. */
    readonly retryAfterMs?: number | undefined;
  },
  random: Random,
): number | undefined {
  const wait = schedule[charged - 1];
  if (wait === undefined) return undefined;
  return Math.max(withJitter(wait, random), Math.min(retryAfterMs, maxRetryAfter));
}

/** Returns the wait after `count` consecutive internal errors, in milliseconds. The wait grows exponentially from 1 to 15 min. */
export function internalErrorWait(count: number): number {
  return Math.min(minute * 2 ** (count - 1), 15 * minute);
}

/**
 * Returns the wait in milliseconds that a `Retry-After` header requests. The header contains seconds or a date (RFC 9110 section 10.2.3).
 * Ignores the header unless the status is 429 or 503, and ignores malformed and past values.
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

/** Parses the three date formats of RFC 9110 section 5.6.7. The oldest format omits the time zone, which is GMT. */
function parseHttpDate(value: string): number {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(value)) return Number.NaN;
  return Date.parse(value.endsWith(' GMT') ? value : `${value} GMT`);
}
