import type { FaultRunSettings } from './fault-run.ts';

const background = { throttledReadsAndWrites: 0.01, throttledKeyUses: 0.2, repeatedBatches: 0.1 };

/** The long run: it waits for recoveries that take minutes. */
export const fullRun: FaultRunSettings = {
  events: 3_000,
  accounts: 3,
  limit: 15 * 60_000, // twice the longest that a recovery takes
  publishing: 80_000,
  attemptTimeout: 2_500, // what hangs is found to be slow
  schedule: '1s,1s,2s',
  visibility: 20,
  waitsForRecovery: true,
  faults: {
    killEvery: 3_000,
    leastKills: 10,
    killTargets: /-(DeliverFirst|DeliverRetry|DeliverSlow|Sweep)[0-9A-F]{8}$/,
    // No notification is published here: `failedNotifications` would not happen, which is a finding.
    phases: [
      {
        throttledReadsAndWrites: 0.5,
        refusedSends: 0.4,
        throttledKeyUses: 0.3,
        failedKeyUses: 0.6,
        repeatedBatches: 0.2,
      },
      background,
      background,
    ],
  },
};

/**
 * The short run. It does not wait for recoveries that take minutes, and keeps them rare: a delivery waits for one minute after
 * an internal error, and for two when its message was lost between storing and sending. Hence only processes of first attempts
 * are killed, few requests to tables are throttled, and no message is refused.
 */
export const shortRun: FaultRunSettings = {
  ...fullRun,
  events: 160,
  accounts: 1,
  limit: 240_000, // on a busy machine; it takes 20 s on an idle one
  publishing: 2_000,
  attemptTimeout: 1_500,
  schedule: '1s,1s',
  visibility: 3,
  waitsForRecovery: false,
  faults: {
    killEvery: 600,
    leastKills: 2,
    killTargets: /-DeliverFirst[0-9A-F]{8}$/,
    phases: [{ throttledReadsAndWrites: 0.02, throttledKeyUses: 0.3, failedKeyUses: 0.2, repeatedBatches: 0.3 }],
  },
};
