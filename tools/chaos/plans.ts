import type { ChaosPlan } from './chaos-run.ts';
import type { IsolationPlan } from './isolation.ts';

const victims = /-(DeliverFirst|DeliverRetry|DeliverSlow|Sweep)[0-9A-F]{8}$/;

/** The long run: what takes minutes to mend is waited for. */
export const fullPlan: ChaosPlan = {
  events: 3_000,
  accounts: 44,
  seed: 1,
  limit: 8 * 60_000,
  publishing: 80_000,
  attemptTimeout: 2_500, // what hangs is found to be slow
  waits: [1_000, 1_000, 2_000],
  patience: 4_000,
  longPatience: 60_000,
  visibility: 20,
  waitsForMending: true,
  storm: {
    killEvery: 3_000,
    leastKills: 10,
    mustStrike: ['throttledReadsAndWrites', 'refusedSends', 'throttledKeyUses', 'failedKeyUses', 'repeatedBatches'],
    victims,
    background: { throttledReadsAndWrites: 0.01, throttledKeyUses: 0.2, repeatedBatches: 0.1, failedNotifications: 1 },
    gusts: {
      throttledReadsAndWrites: 0.5,
      refusedSends: 0.4,
      throttledKeyUses: 0.3,
      failedKeyUses: 0.6,
      repeatedBatches: 0.2,
    },
    gustLength: 4_000,
    gustPeriod: 12_000,
    // The sweeper announces suspensions a minute or two later.
    aftermath: { failedNotifications: 1 },
  },
};

/**
 * The short run. What takes minutes to mend is not waited for, and kept rare: a fault of our own is waited out for a minute,
 * what is lost between storing and sending for two. Hence only first attempts' processes are killed, few requests to
 * tables are throttled, and no message is refused.
 */
export const shortPlan: ChaosPlan = {
  ...fullPlan,
  events: 160,
  accounts: 8,
  limit: 240_000, // on a busy machine; it takes 20 s on an idle one
  publishing: 2_000,
  attemptTimeout: 1_500,
  waits: [1_000, 1_000],
  patience: 3_000,
  longPatience: 20_000, // what a killed process had received itself comes back after 12 s
  visibility: 3,
  waitsForMending: false,
  storm: {
    killEvery: 600,
    leastKills: 2,
    mustStrike: ['throttledKeyUses', 'failedKeyUses', 'repeatedBatches'],
    victims: /-DeliverFirst[0-9A-F]{8}$/,
    background: { throttledReadsAndWrites: 0.02, throttledKeyUses: 0.3, failedKeyUses: 0.2, repeatedBatches: 0.3 },
    gusts: {},
    gustLength: 1_000,
    gustPeriod: 2_000,
    aftermath: {},
  },
};

/** The attacks of `tools/simulate`, scaled down to what two processors can do beside everything else that runs on them. */
export const isolationPlan: IsolationPlan = {
  healthy: 3,
  failing: 1,
  rate: 1,
  length: 45_000,
  places: { first: 2, retry: 2, slow: 2 },
  attemptTimeout: 6_000,
  answersAfter: 100,
  wait: 2_000,
  longestExtra: 1_000,
};
