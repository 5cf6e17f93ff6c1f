import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { makeRecentCounts, type RecentCounts } from './recent-counts.ts';
import { type SlownessOwner, slownessId } from './slow-since.ts';
import { isSlow, mayRecover, recovered, withSlowAttempts } from './slowness.ts';
import type { SlownessStore } from './slowness-store.ts';

export type SlownessTracker = ReturnType<typeof makeSlownessTracker>;

/** Creates the slowness tracker of one process. It never throws. If a write fails, a later attempt stores the counts. */
export function makeSlownessTracker({
  store,
  quickCounts,
  now,
  log,
}: {
  readonly store: Pick<SlownessStore, 'change'>;
  /** The quick attempts of this process. */
  readonly quickCounts: RecentCounts;
  readonly now: Clock;
} & Pick<DeliveryTelemetry, 'log'>) {
  const webhooks = new Map<string, TrackedWebhook>();
  /** The slow attempts that are not stored yet. They expire after 1 minute. */
  const slowCounts = makeRecentCounts();

  return { recordQuick, recordSlow, recordQuickResponse };

  /** Counts a quick attempt in memory. The next slow attempt stores the count. */
  function recordQuick(owner: SlownessOwner): void {
    quickCounts.add(slownessId(owner), now());
  }

  /** Records a slow attempt while it is in flight. */
  async function recordSlow(owner: SlownessOwner): Promise<void> {
    const webhook = trackedWebhook(owner);
    slowCounts.add(slownessId(owner), now());
    if (!webhook.storingSlow && now() - webhook.lastSlowAt < slownessRenewal) return;
    webhook.storingSlow ??= storeSlow(owner, webhook);
    await webhook.storingSlow;
  }

  /** Records a quick response, which ends the slowness if the hold is over. */
  async function recordQuickResponse(owner: SlownessOwner): Promise<void> {
    await change(owner, slowness => (mayRecover(slowness, now()) ? recovered(slowness, now()) : undefined));
  }

  function trackedWebhook(owner: SlownessOwner): TrackedWebhook {
    const id = slownessId(owner);
    const webhook = webhooks.get(id) ?? {
      storingSlow: undefined,
      lastSlowAt: Number.NEGATIVE_INFINITY,
    };
    webhooks.set(id, webhook);
    const oldest = webhooks.size > maxTracked ? webhooks.keys().next().value : undefined;
    if (oldest !== undefined) webhooks.delete(oldest);
    return webhook;
  }

  /** Stores the counts. The next write includes attempts that become slow during this write. */
  async function storeSlow(owner: SlownessOwner, webhook: TrackedWebhook): Promise<void> {
    const id = slownessId(owner);
    for (let slow = slowCounts.take(id, now()); slow > 0; slow = slowCounts.take(id, now())) {
      const added = { slow, quick: quickCounts.take(id, now()) };
      const stored = await change(owner, slowness => withSlowAttempts(slowness, added, now()));
      webhook.lastSlowAt = stored && isSlow(stored) ? now() : Number.NEGATIVE_INFINITY;
    }
    webhook.storingSlow = undefined;
  }

  /**
   * Changes the stored slowness, and logs if the webhook becomes slow or quick. Returns the stored value, which may not include the change
   * (see `SlownessStore.change`), or `undefined` if the store failed.
   */
  async function change(owner: SlownessOwner, apply: Parameters<SlownessStore['change']>[1]) {
    const fields = { account: owner.accountId, event: owner.eventName };
    let wasSlow = false;
    try {
      const stored = await store.change(owner, slowness => {
        wasSlow = isSlow(slowness);
        return apply(slowness);
      });
      if (wasSlow && !isSlow(stored)) log.info('webhook.quick_again', fields);
      if (!wasSlow && isSlow(stored)) {
        log.warn('webhook.slow', { ...fields, holdMs: stored.hold });
      }
      return stored;
    } catch (error) {
      log.error('webhook.slowness_not_stored', { ...fields, ...describeError(error) });
      return undefined;
    }
  }
}

/** The in-memory state of a webhook. */
interface TrackedWebhook {
  storingSlow: Promise<void> | undefined;
  /** The time of the last write after which the webhook was slow. */
  lastSlowAt: number;
}

/** The maximum number of webhooks that a process stores. The oldest is removed first. */
const maxTracked = 10_000;

/** The minimum time between two writes for a slow webhook, in milliseconds. Without a minimum, each hanging attempt would cause a write. */
const slownessRenewal = 5_000;
