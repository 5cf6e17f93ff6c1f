import { describeError } from '../platform/telemetry.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { longestQuickAttempt } from './lane.ts';
import type { DeliveryTelemetry } from './telemetry.ts';
import type { WebhookHealth } from './webhook-health.ts';

/**
 * Watches an attempt that begins now. An attempt that is not over in time holds up whoever waits for its batch to end, and
 * every further one of its webhook would hold up another batch: the webhook is moved to the slow lane while it is still
 * under way, not when its deadline has passed.
 *
 * @returns what ends the watch. It never throws, and resolves once a note that is being stored is stored.
 */
export type WatchForSlowness = (webhook: Webhook) => () => Promise<void>;

/** Calls back after so many milliseconds, unless it is told not to. */
export type After = (milliseconds: number, act: () => void) => () => void;

/** `setTimeout`, as the watch takes it. */
export const systemTimer: After = (milliseconds, act) => {
  const timer = setTimeout(act, milliseconds);
  return () => clearTimeout(timer);
};

/** What the watch stands on. */
export interface SlowWatchDependencies extends Pick<DeliveryTelemetry, 'log'> {
  readonly health: Pick<WebhookHealth, 'slowedDown'>;
  readonly after: After;
}

/** Makes the watch. */
export const makeWatchForSlowness =
  ({ health, after, log }: SlowWatchDependencies): WatchForSlowness =>
  webhook => {
    if (webhook.slowSince !== undefined) return async () => undefined;
    let noting: Promise<unknown> | undefined;
    const about = { account: webhook.accountId, event: webhook.evento };
    const cancel = after(longestQuickAttempt, () => {
      noting = health.slowedDown(webhook).catch(error => {
        log.error('webhook health not stored', { ...about, ...describeError(error) });
      });
    });
    return async () => {
      cancel();
      await noting;
    };
  };
