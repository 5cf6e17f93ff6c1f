import { makeRecentCounts, type RecentCounts } from '../../lambdas/delivery/isolation/recent-counts.ts';
import { isSlow, withSlowAttempts, withSlowDns } from '../../lambdas/delivery/isolation/slowness.ts';
import { slownessRenewal } from '../../lambdas/delivery/limits.ts';
import { processorTime } from './costs.ts';
import type { FunctionProcess } from './function-process.ts';
import type { SimulatedMessage } from './service-plan.ts';
import type { SimulatedTables } from './simulated-tables.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The slow attempts that one process stores, as `slowness-tracker.ts` does: one write at a time for each webhook. */
export interface SimulatedTracker {
  recordSlow(webhook: string): void;
  recordSlowName(webhook: string): void;
  /** Calls back once what was recorded of the webhook is stored. */
  afterStored(webhook: string, then: () => void): void;
}

/** Makes the tracker of a process. */
export function makeSimulatedTracker(
  time: VirtualTime,
  process: FunctionProcess,
  tables: Pick<SimulatedTables<SimulatedMessage>, 'changeSlowness' | 'recordOf'>,
): SimulatedTracker {
  const known = new Map<string, Known>();
  const slowCounts: RecentCounts = makeRecentCounts();

  return {
    recordSlow(webhook) {
      const found = knownOf(webhook);
      slowCounts.add(webhook, time.now());
      if (!found.isStoring && time.now() - found.slowAt >= slownessRenewal) store(webhook, found);
    },
    recordSlowName(webhook) {
      const found = knownOf(webhook);
      if (found.isStoring || time.now() - found.slowAt < slownessRenewal) return;
      found.isStoring = true;
      process.spend(2 * processorTime.call);
      tables.changeSlowness(
        webhook,
        slowness => withSlowDns(slowness, time.now()),
        () => {
          found.slowAt = time.now();
          store(webhook, found);
        },
      );
    },
    afterStored(webhook, then) {
      const found = known.get(webhook);
      if (found?.isStoring) found.waiting.push(then);
      else then();
    },
  };

  function knownOf(webhook: string): Known {
    const found = known.get(webhook) ?? { isStoring: false, slowAt: Number.NEGATIVE_INFINITY, waiting: [] };
    known.set(webhook, found);
    return found;
  }

  function store(webhook: string, found: Known): void {
    const slow = slowCounts.take(webhook, time.now());
    found.isStoring = slow > 0;
    if (slow === 0) {
      const { waiting } = found;
      found.waiting = [];
      for (const then of waiting) then();
      return;
    }
    const added = { slow, quick: process.quickCounts.take(webhook, time.now()) };
    process.spend(2 * processorTime.call);
    tables.changeSlowness(
      webhook,
      slowness => withSlowAttempts(slowness, added, time.now()),
      () => {
        if (isSlow(tables.recordOf(webhook).slowness)) found.slowAt = time.now();
        store(webhook, found);
      },
    );
  }
}

interface Known {
  isStoring: boolean;
  slowAt: number;
  waiting: (() => void)[];
}
