import type { Clock } from '../platform/clock.ts';
import { describeError } from '../platform/telemetry.ts';
import type { RecentCounts } from './recent-counts.ts';
import { isSlow, mayRecover, recovered, withDuration, withSlowAttempts, withSlowName } from './slowness.ts';
import { type SlownessOwner, type SlownessStore, slownessId } from './slowness-store.ts';
import type { DeliveryTelemetry } from './telemetry.ts';

/** Notes what attempts show of how slowly a receiver answers. Never throws: what is not stored now, a later attempt shows. */
export interface SlownessNotes {
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

/** What is known to be slow is noted again after this long only: it hangs many times a second. Milliseconds. */
const renewedAfter = 5_000;

/** Slow attempts of this process that are not stored yet. */
interface Unstored {
  slow: number;
  writing: Promise<void> | undefined;
  /** When the webhook was last seen to be slow. */
  slowAt: number;
}

/** Webhooks that are remembered at most; the one that was noted first is forgotten first. */
const mostOwners = 10_000;

/** Makes the notes of one process. */
export function makeSlownessNotes({ store, quickCounts, now, log, count }: SlownessNotesDependencies): SlownessNotes {
  const unstored = new Map<string, Unstored>();

  const unstoredOf = (id: string): Unstored => {
    const known = unstored.get(id) ?? { slow: 0, writing: undefined, slowAt: Number.NEGATIVE_INFINITY };
    unstored.set(id, known);
    const first = unstored.size > mostOwners ? unstored.keys().next().value : undefined;
    if (first !== undefined) unstored.delete(first);
    return known;
  };

  const change = async (owner: SlownessOwner, by: Parameters<SlownessStore['change']>[1]) => {
    const about = { account: owner.accountId, event: owner.evento };
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
  const storeSlow = async (owner: SlownessOwner, known: Unstored) => {
    while (known.slow > 0) {
      const added = { slow: known.slow, quick: quickCounts.take(slownessId(owner), now()) };
      known.slow = 0;
      const stored = await change(owner, slowness => withSlowAttempts(slowness, added, now()));
      known.slowAt = stored && isSlow(stored) ? now() : Number.NEGATIVE_INFINITY;
    }
    known.writing = undefined;
  };

  return {
    quick: owner => quickCounts.add(slownessId(owner), now()),
    slow: owner => {
      const known = unstoredOf(slownessId(owner));
      known.slow += 1;
      if (!known.writing && now() - known.slowAt < renewedAfter) return Promise.resolve();
      known.writing ??= storeSlow(owner, known);
      return known.writing;
    },
    slowName: async owner => {
      await change(owner, slowness => withSlowName(slowness, now()));
    },
    duration: async (owner, milliseconds) => {
      await change(owner, slowness => withDuration(slowness, milliseconds, now()));
    },
    quickSuccess: async owner => {
      await change(owner, slowness => (mayRecover(slowness, now()) ? recovered(slowness, now()) : undefined));
    },
  };
}
