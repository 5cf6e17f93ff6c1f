import type { Webhook } from '../webhooks/webhook.ts';

/** If a webhook has failed for this many milliseconds, its first attempts are made in the retry lane. */
export const failingForLong = 60_000;

/**
 * Each lane has its own queue, consumer and concurrency. The `first` lane is for first attempts. The `retry` lane is for later attempts and
 * for webhooks that keep failing. The `slow` lane is for slow webhooks, because their attempts may occupy slots until the timeout.
 */
export const lanes = ['first', 'retry', 'slow'] as const;

export type Lane = (typeof lanes)[number];

/** A lane to which only this service sends messages. */
export type LaterLane = Exclude<Lane, 'first'>;

/**
 * Returns the lane to which an attempt in `lane` must move, if any. An attempt in the slow lane does not move. After a long wait, however,
 * the sweeper sends its message to the retry lane.
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
