import type { Webhook } from '../../webhooks/webhook.ts';
import type { AttemptOutcome } from '../delivery.ts';
import type { DnsTimeouts } from '../isolation/dns-timeouts.ts';
import type { EventLoopLag } from '../isolation/event-loop-lag.ts';
import { isSlow, mayRecover, type Slowness, withDuration } from '../isolation/slowness.ts';
import type { SlownessTracker } from '../isolation/slowness-tracker.ts';
import type { Lane } from '../lane-routing.ts';
import { giveUpAfter, giveUpEvery, hangsAfter, slowAfter } from '../limits.ts';
import type { HasMessages } from '../queues.ts';

/** Follows one attempt: tells when it is slow, and gives it up. */
export interface SlowAttemptTimer {
  /** Aborted when the attempt is given up. */
  readonly signal: AbortSignal;
  /** The name is about to be resolved: our own work before that is nobody's slowness. */
  onResolving(): void;
  onConnecting(): void;
  /** The last header has come. */
  onAnswered(): void;
  /** Ends the watch; resolves once what was noted is stored. Never throws. */
  end(outcome: AttemptOutcome): Promise<void>;
}

/** Begins to watch an attempt. */
export type StartSlowAttemptTimer = (webhook: Webhook, slowness: Slowness) => SlowAttemptTimer;

/** What watching depends on. */
export interface AttemptWatchDependencies {
  readonly notes: SlownessTracker;
  readonly lateness: EventLoopLag;
  readonly names: DnsTimeouts;
  readonly hasMessages: HasMessages;
  readonly after: After;
  readonly now: () => number;
  /** The lane whose consumer is at work: in the slow one nothing is given up. */
  readonly lane: Lane;
  readonly giveUp: GiveUp;
  /** The deadline of an attempt, in milliseconds. */
  readonly attemptTimeout: number;
}

/** `setTimeout`, as the watch takes it. */
export function systemTimer(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, milliseconds);
  return () => clearTimeout(timer);
}

/**
 * Makes the watch over attempts. A webhook is noted as slow while its attempt is under way, not when the deadline has
 * passed: every further attempt would hold up another place meanwhile. A process that is itself behind notes nothing and
 * gives nothing up.
 */
export function makeStartSlowAttemptTimer(dependencies: AttemptWatchDependencies): StartSlowAttemptTimer {
  const { notes, lateness, names, hasMessages, after, now, lane, giveUp, attemptTimeout } = dependencies;

  return function startSlowAttemptTimer(webhook, slowness) {
    const controller = new AbortController();
    const process = lateness.begin();
    const noted: Promise<void>[] = [];
    const hostname = URL.parse(webhook.url)?.hostname ?? '';
    let endResolution = () => {};
    let timers: (() => void)[] = [];
    let wasSlow = false;
    /** Resolving, connecting and answering, the end: what was asked in one of them says nothing in the next. */
    let phase = 0;

    const endPhase = () => {
      phase += 1;
      for (const cancel of timers) cancel();
      timers = [];
    };
    const later = (milliseconds: number, act: () => void) => {
      timers.push(after(milliseconds, act));
    };
    const giveUpOrAskAgain = async () => {
      if (lane === 'slow') return;
      const asked = phase;
      const isDue = giveUp === 'always' || (await hasMessages());
      if (phase !== asked) return;
      if (isDue && !process.wasLate()) controller.abort();
      else later(giveUpEvery, giveUpOrAskAgain);
    };
    const nameIsSlow = () => {
      if (!process.wasLate() && !names.isResolverSlow(hostname, webhook.accountId)) noted.push(notes.slowName(webhook));
      void giveUpOrAskAgain();
    };
    const noteSlow = () => {
      if (process.wasLate()) return;
      wasSlow = true;
      noted.push(notes.slow(webhook));
    };
    const answerIsSlow = () => {
      noteSlow();
      void giveUpOrAskAgain();
    };
    // The pace of a webhook that hangs must not wait for its first deadline.
    const answerIsVerySlow = () => {
      if (withDuration(slowness, attemptTimeout, now()) && !process.wasLate()) {
        noted.push(notes.duration(webhook, attemptTimeout));
      }
    };

    return {
      signal: controller.signal,
      onResolving() {
        endResolution = names.begin(hostname, webhook.accountId);
        later(giveUpAfter, nameIsSlow);
      },
      onConnecting() {
        endResolution();
        endPhase();
        later(slowAfter, answerIsSlow);
        if (lane === 'slow') later(hangsAfter, answerIsVerySlow);
      },
      onAnswered: endPhase,
      async end(outcome) {
        endPhase();
        endResolution();
        const took = outcome.outcome === 'internal_error' ? undefined : outcome.sinceConnectingMs;
        // The timer may not have fired yet, where the last header came just after its time.
        if (took !== undefined && took > slowAfter && !wasSlow) noteSlow();
        if (took !== undefined && took <= slowAfter && !wasSlow) {
          notes.quick(webhook);
          if (outcome.outcome === 'delivered' && mayRecover(slowness, now())) noted.push(notes.quickSuccess(webhook));
        }
        const isPaced = lane === 'slow' && isSlow(slowness) && took !== undefined;
        if (isPaced && withDuration(slowness, took, now())) noted.push(notes.duration(webhook, took));
        process.end();
        await Promise.all(noted);
      },
    };
  };
}

/** Calls back after so many milliseconds, unless it is told not to. */
type After = (milliseconds: number, act: () => void) => () => void;

/** When attempts in the quick lanes are given up; see `giveUp` in `lib/config.ts`. */
type GiveUp = 'waiting' | 'always';
