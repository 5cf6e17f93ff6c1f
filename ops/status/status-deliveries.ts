import { countIndex } from '../deliveries/deliveries.ts';
import type { Target } from '../stage/target.ts';
import { findOverdue } from './overdue-deliveries.ts';

/** The result of a bounded read of the deliveries. */
export type DeliveriesView = Awaited<ReturnType<typeof readDeliveries>>;

/** Counts failed and held deliveries in at most 10 pages of about 5,000, and finds overdue deliveries. */
export async function readDeliveries(target: Target, now: number) {
  const [ended, late] = await Promise.all([countEnded(target), findOverdue(target, now)]);
  return { ...ended, late };
}

async function countEnded(target: Target) {
  const { counts, read, isCutOff } = await countIndex(target, {}, () => {}, maxPages);
  const ended = (kind: 'failed' | 'held') =>
    counts.flatMap(({ accountId: account, eventName: event, state, count }) =>
      state === kind ? [{ account, event, state, count }] : [],
    );
  return { read, isCutOff, failed: ended('failed'), held: ended('held') };
}

/** The maximum number of pages to read from the `undelivered` index. */
const maxPages = 10;
