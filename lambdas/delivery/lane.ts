import type { Webhook } from '../webhooks/webhook.ts';

/**
 * Who waits for whom: each lane is a queue and a consumer with places of its own. `first` makes first attempts; `retry`
 * further ones, and the first ones of webhooks that keep failing; `slow` makes all attempts of webhooks that are slow to
 * answer, since each of them takes a place for as long as an attempt may last.
 */
export const lanes = ['first', 'retry', 'slow'] as const;

/** One of the lanes. */
export type Lane = (typeof lanes)[number];

/** A lane that only this service sends messages to. */
export type LaterLane = Exclude<Lane, 'first'>;

/**
 * An attempt that takes longer, in milliseconds, makes its webhook slow while it is under way (`slow-watch.ts`). A success
 * that takes no longer ends that.
 */
export const longestQuickAttempt = 2_000;

/** A webhook keeps failing when it has done nothing else for so long, in milliseconds. */
const failingForLong = 60_000;

const laneOf = ({ slowSince, failingSince }: Webhook, now: number): Lane => {
  if (slowSince !== undefined) return 'slow';
  return failingSince !== undefined && now - failingSince >= failingForLong ? 'retry' : 'first';
};

/** The lane that an attempt which is about to be made in `lane` must move to, if any. Nothing ever moves back. */
export const laneBeyond = (lane: Lane, webhook: Webhook, now: number): LaterLane | undefined => {
  const wanted = laneOf(webhook, now);
  return wanted !== 'first' && lanes.indexOf(wanted) > lanes.indexOf(lane) ? wanted : undefined;
};

/** The lane of the next attempt, which is no first one. */
export const nextLane = ({ slowSince }: Webhook): LaterLane => (slowSince === undefined ? 'retry' : 'slow');
