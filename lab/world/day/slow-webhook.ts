import { backoffWait } from '../../../lambdas/delivery/backoff.ts';
import {
  type Slots,
  type Slowness,
  unknownSlowness,
  withDuration,
  withSlowDns,
} from '../../../lambdas/delivery/isolation/slowness.ts';
import type { Random } from '../../../tools/support/random.ts';
import { Calendar } from './calendar.ts';
import { RingBuffer } from './ring-buffer.ts';
import { nextStep, step } from './steps.ts';

/** A webhook whose attempts are made in the slow lane. Moments and durations are in milliseconds. */
export interface SlowWebhook {
  /** Events a second. */
  readonly rate: number;
  /** Returns how long an attempt takes that begins at a moment. */
  readonly durationFrom: (moment: number) => number;
  slowness: Slowness;
  slots: Slots;
  /** True while attempts wait in the table. */
  isBacklogged: boolean;
  /** The attempts that wait in the table until they get slots, by their numbers. */
  readonly table: RingBuffer;
  /** The attempts that fall due, by their numbers. */
  readonly retries: Calendar<number>;
  attemptsUnderWay: number;
}

/** Makes a webhook that a name server has just made slow. */
export function makeSlowWebhook(rate: number, durationFrom: SlowWebhook['durationFrom']): SlowWebhook {
  return {
    rate,
    durationFrom,
    slowness: withSlowDns(unknownSlowness, 0),
    slots: { nextSlotAt: 0, slotSeries: 0 },
    isBacklogged: false,
    table: new RingBuffer(),
    retries: new Calendar(),
    attemptsUnderWay: 0,
  };
}

/** Returns how many events come in the step that begins now: as many a second as the rate says, evenly. */
export function eventsOf({ rate }: SlowWebhook, now: number): number {
  const untilStep = (steps: number) => Math.floor((steps * rate) / stepsPerSecond);
  return untilStep(now / step + 1) - untilStep(now / step);
}

/** Learns how long an attempt took, or takes at least. */
export function learnDuration(webhook: SlowWebhook, took: number, now: number): void {
  webhook.slowness = withDuration(webhook.slowness, took, now) ?? webhook.slowness;
}

/** Plans the attempt after one that has failed, if there is one. */
export function retryLater(webhook: SlowWebhook, number: number, now: number, random: Random): void {
  const wait = backoffWait(schedule, { charged: number, retryAfterMs: undefined }, random);
  if (wait !== undefined) webhook.retries.add(nextStep(now + wait), number + 1);
}

const stepsPerSecond = 1_000 / step;

const schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map(seconds => seconds * 1_000);
