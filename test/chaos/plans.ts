import type { ChaosPlan } from './chaos-run.ts';
import type { IsolationPlan } from './isolation.ts';

const victims = /-(Deliver|Redeliver|Sweep)[0-9A-F]{8}$/;

/** The long run: what is lost between storing and sending has to wait for the sweeper, two to three minutes. */
export const fullPlan: ChaosPlan = {
  events: 3_000,
  accounts: 44,
  seed: 1,
  limit: 8 * 60_000,
  publishing: 80_000,
  waits: [1_000, 1_000, 2_000],
  patience: 4_000,
  longPatience: 60_000,
  visibility: 20,
  waitsForSweeper: true,
  storm: {
    killEvery: 3_000,
    leastKills: 10,
    victims,
    background: { throttledReadsAndWrites: 0.01, repeatedBatches: 0.1 },
    gusts: { throttledReadsAndWrites: 0.5, refusedSends: 0.4, repeatedBatches: 0.2 },
    gustLength: 4_000,
    gustPeriod: 12_000,
  },
};

/**
 * The short run. Nothing that takes minutes to mend: faults that keep keys from being read are waited out for a minute,
 * and what is lost between storing and sending for two. Hence only first attempts' processes are killed, few requests
 * are throttled, and no message is refused.
 */
export const shortPlan: ChaosPlan = {
  ...fullPlan,
  events: 160,
  accounts: 8,
  limit: 60_000,
  publishing: 2_000,
  waits: [1_000, 1_000],
  patience: 3_000,
  longPatience: 6_000,
  visibility: 3,
  waitsForSweeper: false,
  storm: {
    killEvery: 600,
    leastKills: 2,
    victims: /-Deliver[0-9A-F]{8}$/,
    background: { throttledReadsAndWrites: 0.02, repeatedBatches: 0.3 },
    gusts: { repeatedBatches: 0.3 },
    gustLength: 1_000,
    gustPeriod: 2_000,
  },
};

/** All accounts publish at the same rate. Long enough for 1,000 events in each situation. */
export const isolationPlan: IsolationPlan = { quiet: 5, rate: 4, length: 17_000, rounds: 3 };
