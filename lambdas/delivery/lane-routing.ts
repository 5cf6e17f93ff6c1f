import type { Webhook } from '../webhooks/webhook.ts';

/** If a webhook has failed for this long, its first attempts are made in the retry lane. */
export const failingForLong = 60_000;

/**
 * The lanes are bulkheads. Each has its own queue, consumer and concurrency. `first` makes first attempts. `retry` makes further
 * attempts, and the first attempts of webhooks that keep failing. `slow` makes all attempts of slow webhooks, because each of these
 * attempts occupies a slot for up to the timeout.
 */
export const lanes = ['first', 'retry', 'slow'] as const;

export type Lane = (typeof lanes)[number];

/** A lane whose messages only this service sends. */
export type LaterLane = Exclude<Lane, 'first'>;

/**
 * Returns the lane that an attempt must move to before it is made in `lane`, if any. A message in the slow queue stays there. A
 * delivery that waits in the table may return to the retry lane.
 */
export function laneFor(
  lane: Lane,
  { isSlow, failingSince }: Pick<Webhook, 'failingSince'> & { readonly isSlow: boolean },
  now: number,
): LaterLane | undefined {
  if (lane === 'slow') return undefined;
  if (isSlow) return 'slow';
  const isFailing = failingSince !== undefined && now - failingSince >= failingForLong;
  return lane === 'first' && isFailing ? 'retry' : undefined;
}
