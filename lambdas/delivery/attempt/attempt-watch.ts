import { makeAfterEvents, type Time } from '../../platform/timer.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { AttemptOutcome } from '../delivery.ts';
import type { Lane } from '../lane-routing.ts';
import { mayRecover, type Slowness } from '../lanes/slowness.ts';
import type { SlownessTracker } from '../lanes/slowness-tracker.ts';

/** An attempt is slow if it takes longer than this many milliseconds from name resolution to the last response header. */
export const slowThreshold = 2_000;

/** Watches one attempt. The watch records whether the attempt is slow and may cancel it, but does not enforce the timeout. */
export interface AttemptWatch {
  /** Aborted when the watch cancels the attempt. */
  readonly signal: AbortSignal;
  /** Called before name resolution, because the service's own earlier work does not make a webhook slow. */
  onResolving(): void;
  /** Called when the last header has arrived. */
  onResponse(): void;
  /** Ends the watch. Resolves once its records are stored. Never throws. */
  end(outcome: AttemptOutcome): Promise<void>;
}

/** Starts the watch of one attempt. @param isBusy - returns whether other messages may be waiting for the attempt's slot. */
export type StartAttemptWatch = (webhook: Webhook, slowness: Slowness, isBusy: () => boolean) => AttemptWatch;

export interface AttemptWatchDependencies extends Pick<Time, 'now' | 'elapsed' | 'after' | 'turn'> {
  readonly tracker: SlownessTracker;
  /** The consumer's lane. Attempts in the slow lane are not cancelled. */
  readonly lane: Lane;
}

/**
 * Returns the function that starts a watch. The watch records a slow attempt while it is in flight. If the watch waited for the timeout,
 * every further attempt would occupy another slot until then.
 */
export function makeStartAttemptWatch(dependencies: AttemptWatchDependencies): StartAttemptWatch {
  const { tracker, now, elapsed, lane } = dependencies;
  const afterEvents = makeAfterEvents(dependencies);

  return function startAttemptWatch(webhook, slowness, isBusy) {
    const controller = new AbortController();
    const writes: Promise<void>[] = [];
    let cancelTimer = () => {};
    let startedAt: number | undefined;
    let respondedAt: number | undefined;
    let wasSlow = false;

    return {
      signal: controller.signal,
      onResolving() {
        startedAt = elapsed();
        cancelTimer = afterEvents(slowThreshold, onSlow);
      },
      onResponse() {
        respondedAt = elapsed();
        cancelTimer();
      },
      async end(outcome) {
        const endedAt = respondedAt ?? elapsed();
        cancelTimer();
        if (startedAt !== undefined && outcome.outcome !== 'internal_error') record(endedAt - startedAt, outcome);
        await Promise.all(writes);
      },
    };

    function onSlow(): void {
      recordSlow();
      cancelIfBusy();
    }

    function cancelIfBusy(): void {
      if (lane === 'slow') return;
      if (isBusy()) controller.abort();
      else cancelTimer = afterEvents(busyCheckInterval, cancelIfBusy);
    }

    function recordSlow(): void {
      wasSlow = true;
      writes.push(tracker.recordSlow(webhook));
    }

    function record(durationMs: number, { record: { status } }: AttemptOutcome): void {
      // If the last header arrived just after the limit, the timer may not have fired yet.
      if (durationMs > slowThreshold && !wasSlow) recordSlow();
      if (durationMs > slowThreshold || wasSlow) return;
      tracker.recordQuick(webhook);
      const hasResponse = status !== null;
      if (hasResponse && mayRecover(slowness, now())) writes.push(tracker.recordQuickResponse(webhook));
    }
  };
}

/** A slow attempt is checked again at this interval in milliseconds, because the process may become busy later. */
const busyCheckInterval = 1_000;
