import type { Webhook } from '../webhooks/webhook.ts';

/** If a webhook has failed for this many milliseconds, its first attempts are made in the retry lane. */
export const failingForLong = 60_000;

/**
 * The lanes. Each has its own queue, consumer and concurrency. `first` makes first attempts. `retry` makes further attempts, and the first
 * attempts of webhooks that keep failing. `slow` makes all attempts of slow webhooks, because each of these attempts may occupy a slot
 * until the timeout.
 */
export const lanes = ['first', 'retry', 'slow'] as const;

export type Lane = (typeof lanes)[number];

/** A lane in which only this service sends messages. */
export type LaterLane = Exclude<Lane, 'first'>;

/**
 * Returns the lane to which an attempt in `lane` must move, if any. An attempt in the slow lane does not move. If its delivery waits in
 * the table, the sweeper later sends it to the retry lane.
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
