import {
  type ConcurrencyLimit,
  makeConcurrencyLimit,
  type Places,
} from '../../lambdas/delivery/isolation/concurrency-limit.ts';
import { makeRecentCounts, type RecentCounts } from '../../lambdas/delivery/isolation/recent-counts.ts';
import { giveUpEvery } from '../../lambdas/delivery/limits.ts';
import { coreShare, latency, processorTime } from './costs.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A process of a function: one thread on a share of a core, and what it keeps in memory. */
export interface FunctionProcess {
  /** Does this much work, in milliseconds of a whole core, after all the work that it had before, then goes on. */
  work(milliseconds: number, then: () => void): void;
  /** The same, where nothing waits for it. */
  spend(milliseconds: number): void;
  /** Returns how much later than now a timer would fire, in milliseconds. */
  lateness(): number;
  /** Asks whether messages wait in the lane's queue: once a second, for all attempts together. */
  askForMessages(then: (doWait: boolean) => void): void;
  /** Attempts of this process at each webhook. */
  readonly webhookLimit: ConcurrencyLimit;
  /** Attempts that were over in time. */
  readonly quickCounts: RecentCounts;
}

/** Makes a process that was just started. `countMessages`: what the queue says when it is asked. */
export function makeFunctionProcess(
  time: VirtualTime,
  attemptsPerWebhook: Places,
  countMessages: () => number,
): FunctionProcess {
  let freeAt = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  let doWait = false;

  function spend(milliseconds: number): void {
    freeAt = Math.max(freeAt, time.now()) + milliseconds / coreShare;
  }

  return {
    work(milliseconds, then) {
      spend(milliseconds);
      time.at(freeAt, then);
    },
    spend,
    lateness: () => Math.max(0, freeAt - time.now()),
    askForMessages(then) {
      if (time.now() - askedAt >= giveUpEvery) {
        askedAt = time.now();
        spend(processorTime.call);
        doWait = countMessages() > 0;
      }
      time.at(time.now() + latency.read, () => then(doWait));
    },
    webhookLimit: makeConcurrencyLimit(attemptsPerWebhook),
    quickCounts: makeRecentCounts(),
  };
}
