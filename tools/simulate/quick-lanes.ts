import { type ConcurrencyLimit, makeConcurrencyLimit } from '../../lambdas/delivery/isolation/concurrency-limit.ts';
import { makeRecentCounts, type RecentCounts } from '../../lambdas/delivery/isolation/recent-counts.ts';
import {
  isSlow,
  mayRecover,
  nextSlot,
  recovered,
  type Slowness,
  slotInterval,
  unknownSlowness,
  withDuration,
  withSlowAttempts,
  withSlowDns,
} from '../../lambdas/delivery/isolation/slowness.ts';
import { laneFor } from '../../lambdas/delivery/lane-routing.ts';
import {
  attemptsPerProcess,
  attemptsPerWebhook,
  firstReceivePause,
  giveUpAfter,
  giveUpEvery,
  longestReceivePause,
  pauseWhileMessages,
  slowAfter,
  webhookLimitWait,
} from '../../lambdas/delivery/limits.ts';
import type { Random } from '../support/random.ts';
import { makeSimulatedQueue, type SimulatedQueue } from './simulated-queue.ts';
import { makeVirtualTime, type VirtualTime } from './virtual-time.ts';

/** How many batches a lane works on at once. */
export interface Places {
  readonly atFirst: number;
  readonly most: number;
  /** More a second while messages wait. */
  readonly growth: number;
}

/** The configuration of the simulated service. */
export interface ServicePlan {
  readonly places: { readonly first: Places; readonly retry: Places };
  /** Whether queues are fair between accounts. */
  readonly isFair: boolean;
  readonly giveUp: 'waiting' | 'always';
  /** How old the queue's count of waiting messages is when it is asked, in milliseconds. */
  readonly countLag: number;
  /**
   * `before`: the rules of commit 39ed777. One slow attempt makes a webhook slow, one quick success or a PUT ends that, no
   * attempt is given up, slow attempts are not paced, and a process makes the attempts of its batch only.
   */
  readonly rules: 'present' | 'before';
}

/** What a receiver does with one attempt. Milliseconds; `Infinity` never comes. */
export interface Behaviour {
  readonly resolves: number;
  readonly answers: number;
  readonly isSuccess: boolean;
}

/** One account's webhook and what it is sent. */
export interface Tenant {
  readonly account: string;
  readonly isHealthy: boolean;
  /** When its events are published, in order: milliseconds from the beginning. */
  readonly publishes: readonly number[];
  readonly behave: (random: Random, attempt: number) => Behaviour;
  /** Replaces its URL so often, in milliseconds. */
  readonly putEvery?: number;
}

/** How long healthy attempts waited until they began, in milliseconds. */
export interface Waits {
  readonly first: readonly number[];
  readonly retries: readonly number[];
}

/** The part of the run that is measured, in milliseconds from the beginning. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** Simulates tenants beside each other. Gives the waits of healthy attempts that were due in the period. */
export function simulateQuickLanes(
  plan: ServicePlan,
  tenants: readonly Tenant[],
  { from, until }: Period,
  random: Random,
): Waits {
  const time = makeVirtualTime();
  const known = new Map<string, Known>();
  const waits = { first: [] as number[], retries: [] as number[] };
  let slowLaneFreeAt = 0;
  const isPresent = plan.rules === 'present';
  const perProcess = isPresent ? attemptsPerProcess.first : batchSize;
  const perWebhook = isPresent ? attemptsPerWebhook : Number.POSITIVE_INFINITY;

  const knownOf = (account: string): Known => {
    const found = known.get(account) ?? { slowness: unknownSlowness, nextSlotAt: 0 };
    known.set(account, found);
    return found;
  };
  const change = (account: string, by: (slowness: Slowness) => Slowness | undefined) =>
    time.at(time.now() + storeTime, () => {
      const found = knownOf(account);
      found.slowness = by(found.slowness) ?? found.slowness;
    });
  const noteSlow = (account: string, quick: number) =>
    change(account, slowness =>
      isPresent ? withSlowAttempts(slowness, { slow: 1, quick }, time.now()) : withSlowDns(slowness, time.now()),
    );
  const noteQuickSuccess = (account: string) => {
    const { slowness } = knownOf(account);
    const ends = isPresent ? mayRecover(slowness, time.now()) : isSlow(slowness);
    if (ends) change(account, present => recovered(present, time.now()));
  };
  const retryLater = (event: Event) => {
    if (event.attempt > 1) return;
    const due = time.now() + backoffWait;
    time.at(due, () => push.retry({ ...event, due, attempt: 2 }));
  };

  /** Of the slow lane only what its attempts show of the receiver matters here. */
  const attemptInSlowLane = (event: Event) => {
    const found = knownOf(event.account);
    const slot = isPresent
      ? nextSlot(found.nextSlotAt, slotInterval(found.slowness, slowRate), time.now())
      : { at: Math.max(time.now(), slowLaneFreeAt), next: 0 };
    if (!slot) return; // waits in the table, for longer than is measured
    found.nextSlotAt = slot.next;
    slowLaneFreeAt = slot.at + deadline / slowPlacesBefore;
    time.at(slot.at, () => {
      const { resolves, answers, isSuccess } = event.tenant.behave(random, event.attempt);
      const took = Math.min(answers, deadline - resolves);
      if (took > slowAfter) time.at(time.now() + resolves + slowAfter, () => noteSlow(event.account, 0));
      time.at(time.now() + resolves + took, () => {
        change(event.account, slowness => withDuration(slowness, took, time.now()));
        if (isSuccess && took <= slowAfter) noteQuickSuccess(event.account);
        if (!isSuccess) retryLater(event);
      });
    });
  };

  const makeLane = (name: 'first' | 'retry', places: Places): ((event: Event) => void) => {
    const queue = makeSimulatedQueue<Event>(plan.isFair);
    const depth = followDepth(time, queue, plan.countLag, until + drainTime);
    const idle: Process[] = Array.from({ length: places.atFirst }, () => makeProcess(perWebhook));
    let count = places.atFirst;

    const begin = (process: Process) => {
      const batch = queue.take(batchSize);
      process.events += batch.length;
      for (const event of batch) {
        handle(event, process, () => {
          queue.done(event);
          process.events -= 1;
          if (process.events > 0) return;
          time.at(time.now() + pollTime, () => {
            idle.push(process);
            dispatch();
          });
        });
      }
    };
    const receiveMore = (process: Process, begunAt: number, pause: number) =>
      time.at(time.now() + pause, () => {
        if (process.events === 0 || process.begunAt !== begunAt) return;
        const hasRoom = process.events + batchSize <= perProcess && time.now() - begunAt < receivesFor;
        if (!hasRoom || queue.length() === 0) {
          const longer = Math.min(Math.max(pause * 2, firstReceivePause), longestReceivePause);
          return receiveMore(process, begunAt, longer);
        }
        time.at(time.now() + receiveTime, () => {
          begin(process);
          receiveMore(process, begunAt, pauseWhileMessages);
        });
      });
    const dispatch = () => {
      while (idle.length > 0 && queue.length() > 0) {
        const process = idle.pop() as Process;
        process.begunAt = time.now();
        begin(process);
        if (isPresent) receiveMore(process, process.begunAt, firstReceivePause);
      }
    };
    repeat(time, 1_000 / places.growth, until + drainTime, () => {
      if (queue.length() === 0 || idle.length > 0 || count >= places.most) return;
      count += 1;
      idle.push(makeProcess(perWebhook));
      dispatch();
    });
    repeat(time, fairnessLag, until + drainTime, queue.observe);

    const handle = (event: Event, process: Process, done: () => void) =>
      time.at(time.now() + readTime, () => {
        const moved = () => time.at(time.now() + moveTime, done);
        if (laneFor(name, { isSlow: isSlow(knownOf(event.account).slowness) }, time.now())) {
          attemptInSlowLane(event);
          return moved();
        }
        const leave = process.underWay.enter(event.account);
        if (!leave) {
          time.at(time.now() + moveTime + webhookLimitWait(random), () => push.retry(event));
          return moved();
        }
        attempt(event, process, () => {
          leave();
          done();
        });
      });

    const attempt = (event: Event, process: Process, done: () => void) => {
      const start = time.now();
      if (event.tenant.isHealthy && event.due >= from && event.due < until) {
        waits[event.attempt === 1 ? 'first' : 'retries'].push(start - event.due);
      }
      const { resolves, answers, isSuccess } = event.tenant.behave(random, event.attempt);
      const took = Math.min(answers, deadline - resolves);
      const nameIsSlow = resolves > slowAfter;
      let isOver = false;

      time.at(start + resolves + took, () => {
        if (isOver) return;
        isOver = true;
        if (took <= slowAfter) process.counts.add(event.account, time.now());
        if (!isSuccess) retryLater(event);
        time.at(time.now() + storeTime, done);
      });
      const giveUpOrAskAgain = () => {
        if (isOver || !isPresent) return;
        if (plan.giveUp === 'waiting' && depth() === 0) return time.at(time.now() + giveUpEvery, giveUpOrAskAgain);
        isOver = true;
        attemptInSlowLane(event);
        time.at(time.now() + moveTime, done);
      };
      time.at(start + (nameIsSlow ? giveUpAfter : resolves + slowAfter), () => {
        if (isOver) return;
        if (!nameIsSlow) noteSlow(event.account, process.counts.take(event.account, time.now()));
        else if (isPresent) change(event.account, slowness => withSlowDns(slowness, time.now()));
        giveUpOrAskAgain();
      });
    };

    return event => {
      queue.push(event);
      dispatch();
    };
  };

  const push = { first: makeLane('first', plan.places.first), retry: makeLane('retry', plan.places.retry) };
  for (const tenant of tenants) {
    const { account, publishes, putEvery } = tenant;
    for (const due of publishes) time.at(due, () => push.first({ tenant, account, due, attempt: 1 }));
    if (putEvery === undefined || isPresent) continue; // a PUT changes nothing of the present slowness
    repeat(time, putEvery, until, () => {
      knownOf(account).slowness = unknownSlowness;
    });
  }
  time.runUntil(until + drainTime);
  return waits;
}

interface Known {
  slowness: Slowness;
  nextSlotAt: number;
}

const batchSize = 10;

const storeTime = 10;

interface Event {
  readonly tenant: Tenant;
  readonly account: string;
  readonly due: number;
  readonly attempt: number;
}

const backoffWait = 5_000;

/** Attempts a second of a slow webhook. The former rules: attempts of the slow lane at once, each batch as long as its slowest. */
const slowRate = 20;

const deadline = 15_000;

const slowPlacesBefore = 200;

/** Gives the number of waiting messages as it was a while ago. */
function followDepth(time: VirtualTime, queue: SimulatedQueue<Event>, lag: number, until: number): () => number {
  const step = 100;
  const seen: number[] = [];
  repeat(time, step, until, () => {
    seen.push(queue.length());
  });
  return () => seen[Math.floor((time.now() - lag) / step)] ?? 0;
}

/** How long the simulation goes on after the measured period, for attempts that are still under way. */
const drainTime = 30_000;

interface Process {
  readonly counts: RecentCounts;
  readonly underWay: ConcurrencyLimit;
  events: number;
  begunAt: number;
}

function makeProcess(perWebhook: number): Process {
  return { counts: makeRecentCounts(), underWay: makeConcurrencyLimit(perWebhook), events: 0, begunAt: 0 };
}

const pollTime = 5;

/** A process receives further messages for this long: then the rest of its time-out is for what it has begun. */
const receivesFor = 20_000;

const receiveTime = 15;

function repeat(time: VirtualTime, every: number, until: number, act: () => void): void {
  const again = () => {
    act();
    if (time.now() < until) time.at(time.now() + every, again);
  };
  time.at(0, again);
}

/** SQS sees who is noisy so much later. */
const fairnessLag = 1_000;

/** What is not decided but takes time, in milliseconds: guesses on the slow side of what was measured. */
const readTime = 10;

const moveTime = 20;
