import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { makeRecentCounts, type RecentCounts } from './recent-counts.ts';
import { isSlow, mayRecover, recovered, withDuration, withSlowAttempts, withSlowDns } from './slowness.ts';
import { type SlownessOwner, type SlownessStore, slownessId } from './slowness-store.ts';

/** Notes what attempts show of how slowly a receiver answers. Never throws: what is not stored now, a later attempt shows. */
export interface SlownessTracker {
  /** An attempt was over in time: counted in memory, and stored with the next slow one. */
  quick(owner: SlownessOwner): void;
  /** An attempt is not over in time. */
  slow(owner: SlownessOwner): Promise<void>;
  /** A name did not resolve in time. */
  slowName(owner: SlownessOwner): Promise<void>;
  /** How long an attempt took, or will: it decides how many a slow webhook has under way. */
  duration(owner: SlownessOwner, milliseconds: number): Promise<void>;
  /** A quick success: it ends the slowness where its hold is over. */
  quickSuccess(owner: SlownessOwner): Promise<void>;
}

/** What notes depend on. */
export interface SlownessNotesDependencies extends Pick<DeliveryTelemetry, 'log' | 'count'> {
  readonly store: Pick<SlownessStore, 'change'>;
  /** Quick attempts of this process. */
  readonly quickCounts: RecentCounts;
  readonly now: Clock;
}

/** Makes the notes of one process. */
export function makeSlownessTracker({
  store,
  quickCounts,
  now,
  log,
  count,
}: SlownessNotesDependencies): SlownessTracker {
  const known = new Map<string, Known>();
  /** Slow attempts that are not stored yet: after a minute they count no more. */
  const slowCounts = makeRecentCounts();

  const knownOf = (id: string): Known => {
    const one = known.get(id) ?? { writing: undefined, naming: undefined, slowAt: Number.NEGATIVE_INFINITY };
    known.set(id, one);
    const first = known.size > mostOwners ? known.keys().next().value : undefined;
    if (first !== undefined) known.delete(first);
    return one;
  };

  const change = async (owner: SlownessOwner, by: Parameters<SlownessStore['change']>[1]) => {
    const about = { account: owner.accountId, event: owner.eventName };
    let wasSlow = false;
    try {
      const stored = await store.change(owner, slowness => {
        wasSlow = isSlow(slowness);
        return by(slowness);
      });
      if (isSlow(stored) === wasSlow) return stored;
      if (wasSlow) log.info('webhook.quick_again', about);
      else {
        count('WebhookSlow');
        log.warn('webhook.slow', { ...about, holdMs: stored.hold });
      }
      return stored;
    } catch (error) {
      log.error('webhook.slowness_not_stored', { ...about, ...describeError(error) });
      return undefined;
    }
  };

  /** Stores what was counted; attempts that become slow meanwhile are stored with the next write. */
  const storeSlow = async (owner: SlownessOwner, one: Known) => {
    const id = slownessId(owner);
    for (let slow = slowCounts.take(id, now()); slow > 0; slow = slowCounts.take(id, now())) {
      const added = { slow, quick: quickCounts.take(id, now()) };
      const stored = await change(owner, slowness => withSlowAttempts(slowness, added, now()));
      one.slowAt = stored && isSlow(stored) ? now() : Number.NEGATIVE_INFINITY;
    }
    one.writing = undefined;
  };

  const storeSlowName = async (owner: SlownessOwner, one: Known) => {
    if (await change(owner, slowness => withSlowDns(slowness, now()))) one.slowAt = now();
    one.naming = undefined;
  };

  return {
    quick: owner => quickCounts.add(slownessId(owner), now()),
    slow: owner => {
      const one = knownOf(slownessId(owner));
      slowCounts.add(slownessId(owner), now());
      if (!one.writing && now() - one.slowAt < renewedAfter) return Promise.resolve();
      one.writing ??= storeSlow(owner, one);
      return one.writing;
    },
    slowName: owner => {
      const one = knownOf(slownessId(owner));
      if (!one.naming && now() - one.slowAt < renewedAfter) return Promise.resolve();
      one.naming ??= storeSlowName(owner, one);
      return one.naming;
    },
    duration: async (owner, milliseconds) => {
      await change(owner, slowness => withDuration(slowness, milliseconds, now()));
    },
    quickSuccess: async owner => {
      await change(owner, slowness => (mayRecover(slowness, now()) ? recovered(slowness, now()) : undefined));
    },
  };
}

/** What this process knows of a webhook. */
interface Known {
  writing: Promise<void> | undefined;
  naming: Promise<void> | undefined;
  /** When the webhook was last seen to be slow. */
  slowAt: number;
}

/** Webhooks that are remembered at most; the one that was noted first is forgotten first. */
const mostOwners = 10_000;

/** What is known to be slow is noted again after this long only: it hangs many times a second. Milliseconds. */
const renewedAfter = 5_000;
