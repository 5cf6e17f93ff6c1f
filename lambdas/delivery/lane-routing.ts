import type { Webhook } from '../webhooks/webhook.ts';

/** A webhook that has failed for this long keeps failing: its first attempts are made in the retry lane. */
export const failingForLong = 60_000;

/**
 * The lanes are bulkheads: each is a queue and a consumer with places of its own. `first` makes first attempts; `retry`
 * further ones, and the first ones of webhooks that keep failing; `slow` makes all attempts of webhooks that are slow to
 * answer, since each of them takes a place for as long as an attempt may last.
 */
export const lanes = ['first', 'retry', 'slow'] as const;

export type Lane = (typeof lanes)[number];

/** A lane that only this service sends messages to. */
export type LaterLane = Exclude<Lane, 'first'>;

/**
 * The lane that an attempt must move to before it is made in `lane`, if any. A message in the slow queue stays
 * there. A delivery that waits in the table may go back to the retry lane.
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
