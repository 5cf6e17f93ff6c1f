import { makeAfterEvents, type Time } from '../../platform/timer.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { AttemptOutcome } from '../delivery.ts';
import type { Lane } from '../lane-routing.ts';
import { mayRecover, type Slowness } from '../lanes/slowness.ts';
import type { SlownessTracker } from '../lanes/slowness-tracker.ts';

/** An attempt that lasts longer than this, from resolving the name to the last header, is slow. */
export const slowAfter = 2_000;

/** Watches one attempt: records whether it is slow, and may give it up. It does not time it out. */
export interface AttemptWatch {
  /** Aborted when the attempt is given up. */
  readonly signal: AbortSignal;
  /** The name is about to be resolved: our own work before that does not make a webhook slow. */
  onResolving(): void;
  /** The last header has come. */
  onAnswered(): void;
  /** Ends the watch; resolves once what was recorded is stored. Never throws. */
  end(outcome: AttemptOutcome): Promise<void>;
}

/** @param isBusy - returns whether others may wait for the place that the attempt takes. */
export type StartAttemptWatch = (webhook: Webhook, slowness: Slowness, isBusy: () => boolean) => AttemptWatch;

export interface AttemptWatchDependencies extends Pick<Time, 'now' | 'elapsed' | 'after' | 'turn'> {
  readonly tracker: SlownessTracker;
  /** The lane whose consumer is at work: in the slow one nothing is given up. */
  readonly lane: Lane;
}

/**
 * Returns the function that starts a watch. A webhook is recorded as slow while its attempt is in flight, not when the timeout
 * has passed: every further attempt would hold up another place meanwhile.
 */
export function makeStartAttemptWatch(dependencies: AttemptWatchDependencies): StartAttemptWatch {
  const { tracker, now, elapsed, lane } = dependencies;
  const afterEvents = makeAfterEvents(dependencies);

  return function startAttemptWatch(webhook, slowness, isBusy) {
    const controller = new AbortController();
    const stored: Promise<void>[] = [];
    let cancelTimer = () => {};
    let beganAt: number | undefined;
    let answeredAt: number | undefined;
    let wasSlow = false;

    return {
      signal: controller.signal,
      onResolving() {
        beganAt = elapsed();
        cancelTimer = afterEvents(slowAfter, onSlow);
      },
      onAnswered() {
        answeredAt = elapsed();
        cancelTimer();
      },
      async end(outcome) {
        const endedAt = answeredAt ?? elapsed();
        cancelTimer();
        if (beganAt !== undefined && outcome.outcome !== 'internal_error') record(endedAt - beganAt, outcome);
        await Promise.all(stored);
      },
    };

    function onSlow(): void {
      recordSlow();
      giveUpIfBusy();
    }

    function giveUpIfBusy(): void {
      if (lane === 'slow') return;
      if (isBusy()) controller.abort();
      else cancelTimer = afterEvents(lookAgainAfter, giveUpIfBusy);
    }

    function recordSlow(): void {
      wasSlow = true;
      stored.push(tracker.recordSlow(webhook));
    }

    function record(took: number, { record: { status } }: AttemptOutcome): void {
      // The timer may not have fired yet, if the last header came just after its time.
      if (took > slowAfter && !wasSlow) recordSlow();
      if (took > slowAfter || wasSlow) return;
      tracker.recordQuick(webhook);
      const isAnswered = status !== null;
      if (isAnswered && mayRecover(slowness, now())) stored.push(tracker.recordQuickAnswer(webhook));
    }
  };
}

/** An attempt that was not given up may be after this long, in milliseconds: the process may be busy by then. */
const lookAgainAfter = 1_000;
