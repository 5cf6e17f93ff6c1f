import { makeRecentCounts } from '../../../lambdas/delivery/isolation/recent-counts.ts';
import {
  isSlow,
  type Slowness,
  unknownSlowness,
  withSlowAttempts,
} from '../../../lambdas/delivery/isolation/slowness.ts';
import type { Random } from '../../../tools/support/random.ts';

/** A healthy receiver with many events. */
export interface LargeReceiver {
  /** Events a second. */
  readonly rate: number;
  /** The share of its answers that take over two seconds. */
  readonly slowShare: number;
  /** Processes among which its attempts are spread by chance. */
  readonly processes: number;
  readonly hours: number;
}

/** Counts how often a large healthy receiver was taken for slow. */
export function simulateLargeReceiver({ rate, slowShare, processes, hours }: LargeReceiver, random: Random): number {
  const counts = Array.from({ length: processes }, makeRecentCounts);
  let slowness: Slowness = unknownSlowness;
  let times = 0;
  for (let event = 0; event < hours * 3_600 * rate; event++) {
    const now = (event * 1_000) / rate;
    const process = counts[Math.floor(random() * processes)];
    if (random() >= slowShare) {
      process?.add('large', now);
      continue;
    }
    slowness = withSlowAttempts(slowness, { slow: 1, quick: process?.take('large', now) ?? 0 }, now);
    if (!isSlow(slowness)) continue;
    times += 1;
    slowness = unknownSlowness;
  }
  return times;
}
