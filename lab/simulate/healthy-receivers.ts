import { makeRecentCounts } from '../../lambdas/delivery/isolation/recent-counts.ts';
import {
  countsStill,
  isSlow,
  mayRecover,
  recovered,
  type Slots,
  type Slowness,
  slotInterval,
  takeSlots,
  unknownSlowness,
  withDuration,
  withSlowAttempts,
} from '../../lambdas/delivery/isolation/slowness.ts';
import { slowAfter } from '../../lambdas/delivery/limits.ts';
import { planOf } from '../../lambdas/delivery/sweeper/slow-backlog.ts';
import type { Random } from '../../tools/support/random.ts';
import { makeVirtualTime } from './virtual-time.ts';

/** A healthy receiver with many events. */
export interface LargeReceiver {
  /** Events a second. */
  readonly rate: number;
  /** The share of its answers that take over two seconds. */
  readonly slowShare: number;
  /** Processes among which its attempts are spread by chance. */
  readonly processes: number;
  readonly hours: number;
}

/** Counts how often a large healthy receiver was taken for slow. */
export function simulateLargeReceiver({ rate, slowShare, processes, hours }: LargeReceiver, random: Random): number {
  const counts = Array.from({ length: processes }, makeRecentCounts);
  let slowness: Slowness = unknownSlowness;
  let times = 0;
  for (let event = 0; event < hours * 3_600 * rate; event++) {
    const now = (event * 1_000) / rate;
    const process = counts[Math.floor(random() * processes)];
    if (random() >= slowShare) {
      process?.add('large', now);
      continue;
    }
    slowness = withSlowAttempts(slowness, { slow: 1, quick: process?.take('large', now) ?? 0 }, now);
    if (!isSlow(slowness)) continue;
    times += 1;
    slowness = unknownSlowness;
  }
  return times;
}

/** The effects of a large receiver's outage. Times in milliseconds after its end. */
export interface OutageResult {
  /** The moment when it was no longer slow. */
  readonly quickAfter: number;
  /** The moment when nothing waited in the table. */
  readonly emptyAfter: number;
  /** The most events that waited at once. */
  readonly waited: number;
}

/** Simulates a receiver with `rate` events a second that hangs for a minute and then answers as before. */
export function simulateOutage(rate: number, random: Random): OutageResult {
  const time = makeVirtualTime();
  const [outageFrom, outageUntil, until] = [minute, 2 * minute, 20 * minute];
  const quick = makeRecentCounts();
  let slowness: Slowness = unknownSlowness;
  let slots: Slots = { nextSlotAt: 0, slotSeries: 0 };
  let isBacklogged = false;
  let waiting = 0;
  let waited = 0;
  let quickAt = Number.POSITIVE_INFINITY;
  let emptyAt = Number.POSITIVE_INFINITY;

  const attempt = () => {
    const start = time.now();
    const hangs = start >= outageFrom && start < outageUntil;
    const wasSlow = isSlow(slowness);
    if (hangs) {
      time.at(start + slowAfter, () => {
        slowness = withSlowAttempts(slowness, { slow: 1, quick: quick.take('large', time.now()) }, time.now());
      });
    }
    time.at(start + (hangs ? deadline : answersAfter), () => {
      if (wasSlow) slowness = withDuration(slowness, hangs ? deadline : answersAfter, time.now()) ?? slowness;
      if (hangs) return time.at(time.now() + 5_000 * (0.8 + 0.2 * random()), arrive);
      quick.add('large', time.now());
      if (!wasSlow || !mayRecover(slowness, time.now())) return;
      slowness = recovered(slowness, time.now());
      quickAt = time.now();
    });
  };
  const arrive = () => {
    if (!isSlow(slowness)) return attempt();
    if (isBacklogged) wait();
    else takeSlot();
  };
  const takeSlot = () => {
    const taken = takeSlots(slots, 1, slotInterval(slowness, slowRate), time.now());
    if (!taken) return wait();
    slots = taken.after;
    inSlot(taken.firstAt);
  };
  const inSlot = (at: number) => {
    const { slotSeries } = slots;
    time.at(at, () => {
      if (!isSlow(slowness) || countsStill(slots, slotSeries, slotInterval(slowness, slowRate))) attempt();
      else takeSlot();
    });
  };
  const wait = () => {
    isBacklogged = true;
    waiting += 1;
    waited = Math.max(waited, waiting);
  };
  const sweep = () => {
    const plan = planOf({ ...slowness, ...slots }, slowRate, time.now());
    const given = Math.min(plan.most, waiting);
    if (plan.to === 'slow') slots = { ...plan.slots, nextSlotAt: plan.beginAt + given * plan.interval };
    for (let slot = 0; slot < given; slot++) {
      const at = plan.beginAt + slot * plan.interval;
      if (plan.to === 'slow') inSlot(at);
      else time.at(at, attempt);
    }
    waiting -= given;
    if (waiting === 0) {
      isBacklogged = false;
      // Events with a slot are attempted until their last slot.
      if (quickAt <= time.now()) emptyAt = Math.min(emptyAt, plan.beginAt + given * plan.interval);
    }
    if (time.now() < until) time.at(time.now() + minute, sweep);
  };
  for (let event = 0; event < (until / 1_000) * rate; event++) time.at((event * 1_000) / rate, arrive);
  time.at(500, sweep);
  time.runUntil(until);
  return { quickAfter: quickAt - outageUntil, emptyAfter: emptyAt - outageUntil, waited };
}

const minute = 60_000;

const deadline = 15_000;
const answersAfter = 50;

const slowRate = 20;
