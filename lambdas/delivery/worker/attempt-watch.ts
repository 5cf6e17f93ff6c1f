import { makeAfterEvents, type Time } from '../../platform/timer.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { AttemptOutcome } from '../delivery.ts';
import { isSlow, mayRecover, type Slowness, withDuration } from '../isolation/slowness.ts';
import type { SlownessTracker } from '../isolation/slowness-tracker.ts';
import type { Lane } from '../lane-routing.ts';
import { giveUpAfter, giveUpEvery, hangsAfter, slowAfter } from '../limits.ts';
import type { HasMessages } from '../queues.ts';

/** Watches one attempt: records when it or its name's resolution is slow, and may give it up. It does not time it out. */
export interface AttemptWatch {
  /** Aborted when the attempt is given up. */
  readonly signal: AbortSignal;
  /** The name is about to be resolved: our own work before that is nobody's slowness. */
  onResolving(): void;
  /** Name servers are asked for this attempt, and not for another at the same host. */
  onAsking(): void;
  onConnecting(): void;
  /** The last header has come. */
  onAnswered(): void;
  /** Ends the watch; resolves once what was recorded is stored. Never throws. */
  end(outcome: AttemptOutcome): Promise<void>;
}

export type StartAttemptWatch = (webhook: Webhook, slowness: Slowness) => AttemptWatch;

export interface AttemptWatchDependencies extends Pick<Time, 'now' | 'elapsed' | 'after' | 'turn'> {
  readonly tracker: SlownessTracker;
  /** Returns whether messages wait in the lane's queue. */
  readonly hasMessages: HasMessages;
  /** The lane whose consumer is at work: in the slow one nothing is given up. */
  readonly lane: Lane;
  /** The condition under which attempts in the quick lanes are given up; see `giveUp` in `lib/stage-values.ts`. */
  readonly giveUp: 'waiting' | 'always';
  /** The timeout of an attempt, in milliseconds. */
  readonly attemptTimeoutMs: number;
}

/**
 * Returns the function that starts a watch. A webhook is recorded as slow while its attempt is in flight, not when the timeout
 * has passed: every further attempt would hold up another place meanwhile.
 */
export function makeStartAttemptWatch(dependencies: AttemptWatchDependencies): StartAttemptWatch {
  const { tracker, hasMessages, now, elapsed, lane, giveUp, attemptTimeoutMs } = dependencies;
  const afterEvents = makeAfterEvents(dependencies);

  return function startAttemptWatch(webhook, slowness) {
    const controller = new AbortController();
    const stored: Promise<void>[] = [];
    let cancelHanging = () => {};
    let resolvingAt = 0;
    let connectingAt: number | undefined;
    let answeredAt: number | undefined;
    let timers: (() => void)[] = [];
    let hasAsked = false;
    let wasSlow = false;
    /** Resolving, connecting and answering, the end: what was asked in one of them says nothing in the next. */
    let phase = 0;

    return {
      signal: controller.signal,
      onResolving() {
        resolvingAt = elapsed();
        if (lane === 'slow') cancelHanging = afterEvents(hangsAfter, onHangingAttempt);
        later(giveUpAfter, onSlowResolution);
      },
      onAsking() {
        hasAsked = true;
      },
      onConnecting() {
        connectingAt = elapsed();
        endPhase();
        later(slowAfter, onSlowAnswer);
      },
      onAnswered() {
        answeredAt = elapsed();
        cancelHanging();
        endPhase();
      },
      async end({ outcome }) {
        const endedAt = answeredAt ?? elapsed();
        cancelHanging();
        endPhase();
        if (outcome !== 'internal_error') {
          if (connectingAt !== undefined) recordAnswer(endedAt - connectingAt, outcome === 'delivered');
          if (lane === 'slow') recordDuration(Math.round(endedAt - resolvingAt));
        }
        await Promise.all(stored);
      },
    };

    function later(milliseconds: number, callback: () => void): void {
      timers.push(afterEvents(milliseconds, callback));
    }

    function endPhase(): void {
      phase += 1;
      for (const cancel of timers) cancel();
      timers = [];
    }

    /** One lost answer must not slow every webhook at a host: those that share it are given up, but not slow. */
    function onSlowResolution(): void {
      if (hasAsked) stored.push(tracker.recordSlowDns(webhook));
      void giveUpOrAskAgain();
    }

    function onSlowAnswer(): void {
      recordSlow();
      void giveUpOrAskAgain();
    }

    /** The pace of a webhook that hangs must not wait for its first timeout. */
    function onHangingAttempt(): void {
      recordDuration(attemptTimeoutMs);
    }

    function recordSlow(): void {
      wasSlow = true;
      stored.push(tracker.recordSlow(webhook));
    }

    async function giveUpOrAskAgain(): Promise<void> {
      if (lane === 'slow') return;
      const asked = phase;
      const isDue = giveUp === 'always' || (await hasMessages());
      if (phase !== asked) return;
      if (isDue) controller.abort();
      else later(giveUpEvery, giveUpOrAskAgain);
    }

    function recordAnswer(took: number, isDelivered: boolean): void {
      // The timer may not have fired yet, where the last header came just after its time.
      if (took > slowAfter && !wasSlow) recordSlow();
      if (took <= slowAfter && !wasSlow) {
        tracker.recordQuick(webhook);
        if (isDelivered && mayRecover(slowness, now())) stored.push(tracker.recordQuickSuccess(webhook));
      }
    }

    /** An attempt holds its place while its name is resolved, too: without that, one that ends there would have no duration. */
    function recordDuration(took: number): void {
      if (isSlow(slowness) && withDuration(slowness, took, now())) stored.push(tracker.recordDuration(webhook, took));
    }
  };
}
