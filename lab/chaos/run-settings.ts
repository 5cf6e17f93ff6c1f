import type { ChaosSettings } from './chaos-run.ts';
import type { FloodSettings } from './floods.ts';

/** The long run: it waits for recoveries that take minutes. */
export const fullRun: ChaosSettings = {
  events: 3_000,
  accounts: 44,
  seed: 1,
  limit: 20 * 60_000, // several times the longest that anything may be late
  publishing: 80_000,
  attemptTimeout: 2_500, // what hangs is found to be slow
  waits: [1_000, 1_000, 2_000],
  retryAfter: 4_000,
  longRetryAfter: 60_000,
  visibility: 20,
  waitsForRecovery: true,
  // What a process was about to send to the slow queue when it died is sent by the sweeper, five minutes later.
  mostLate: 330_000,
  faults: {
    killEvery: 3_000,
    leastKills: 10,
    required: ['throttledReadsAndWrites', 'refusedSends', 'throttledKeyUses', 'failedKeyUses', 'repeatedBatches'],
    killTargets: /-(DeliverFirst|DeliverRetry|DeliverSlow|Sweep)[0-9A-F]{8}$/,
    background: { throttledReadsAndWrites: 0.01, throttledKeyUses: 0.2, repeatedBatches: 0.1, failedNotifications: 1 },
    bursts: {
      throttledReadsAndWrites: 0.5,
      refusedSends: 0.4,
      throttledKeyUses: 0.3,
      failedKeyUses: 0.6,
      repeatedBatches: 0.2,
    },
    burstLength: 4_000,
    burstPeriod: 12_000,
    // The sweeper announces suspensions a minute or two later.
    afterwards: { failedNotifications: 1 },
  },
};

/** Returns a run in which no process dies: what is lost then is sent again after two to three minutes. */
export function withoutKills(settings: ChaosSettings): ChaosSettings {
  return { ...settings, mostLate: 180_000, faults: { ...settings.faults, leastKills: 0, killTargets: /(?!)/ } };
}

/**
 * The short run. It does not wait for recoveries that take minutes, and keeps them rare: a delivery waits for one minute after
 * an internal error, and for two when its message was lost between storing and sending. Hence only processes of first attempts
 * are killed, few requests to tables are throttled, and no message is refused.
 */
export const shortRun: ChaosSettings = {
  ...fullRun,
  events: 160,
  accounts: 8,
  limit: 240_000, // on a busy machine; it takes 20 s on an idle one
  publishing: 2_000,
  attemptTimeout: 1_500,
  waits: [1_000, 1_000],
  retryAfter: 3_000,
  longRetryAfter: 15_000, // what a killed process had received itself comes back after 12 s
  visibility: 3,
  waitsForRecovery: false,
  faults: {
    killEvery: 600,
    leastKills: 2,
    required: ['throttledKeyUses', 'failedKeyUses', 'repeatedBatches'],
    killTargets: /-DeliverFirst[0-9A-F]{8}$/,
    background: { throttledReadsAndWrites: 0.02, throttledKeyUses: 0.3, failedKeyUses: 0.2, repeatedBatches: 0.3 },
    bursts: {},
    burstLength: 1_000,
    burstPeriod: 2_000,
    afterwards: {},
  },
};

/** Floods as fast as another process makes them. */
export const floodRun: FloodSettings = {
  posts: 400,
  every: 15,
  floods: 5,
  pause: 50,
  attempts: 100,
  attemptsLast: 5_000,
  deadline: 5_000,
  rounds: 10,
  postsPerRound: 600,
  longestExtra: 40,
  mostCpu: 10,
  mostFirstCpu: 50,
};
