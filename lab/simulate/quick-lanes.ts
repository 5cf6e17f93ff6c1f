import {
  attemptsPerProcess,
  attemptsPerWebhook,
  messagesInOwnWork,
  pauseWhileMessages,
} from '../../lambdas/delivery/limits.ts';
import type { Random } from '../../tools/support/random.ts';
import { makeFunctionProcess } from './function-process.ts';
import { simulateConsumer } from './lane-consumer.ts';
import type { WorkerProcess } from './lane-moves.ts';
import { makeProcessMessages } from './process-messages.ts';
import type { ServicePlan, SimulatedMessage, Tenant } from './service-plan.ts';
import { makeSimulatedQueue } from './simulated-queue.ts';
import { makeSimulatedTables } from './simulated-tables.ts';
import { makeSimulatedTracker } from './simulated-tracker.ts';
import { makeSlowLaneEffects } from './slow-lane-effects.ts';
import { makeVirtualTime } from './virtual-time.ts';

/** The settings of delivery, beside those of a stage. */
export const presentSettings = {
  attemptsPerProcess: attemptsPerProcess.first,
  attemptsPerWebhook,
  messagesInOwnWork,
  pauseWhileMessages,
  receiving: 'present',
  moves: 'present',
  receivesBeforeMove: 5,
} as const satisfies Partial<ServicePlan>;

/** Those before they were chosen by this simulation: what the table of ADR 20 begins with. */
export const formerSettings = {
  attemptsPerProcess: 100,
  attemptsPerWebhook: { places: 25, besideOthers: 25, others: 0 },
  messagesInOwnWork: 10,
  pauseWhileMessages: 10,
  receiving: 'former',
  moves: 'former',
  receivesBeforeMove: 5,
} as const satisfies Partial<ServicePlan>;

/** The moments when attempts were due, and how long after that they began, in milliseconds. */
export type Waits = readonly { readonly due: number; readonly wait: number }[];

/** The waits of healthy attempts, and what else happened. */
export interface QuickLanesResult {
  readonly first: Waits;
  readonly retries: Waits;
  readonly deadLetters: number;
  /** The longest from an event's publication until its delivery was attempted or stored, in milliseconds. */
  readonly longestUnseen: number;
  /** Processes at the end. */
  readonly processes: { readonly first: number; readonly retry: number };
}

/** The part of the run that is measured, in milliseconds from the beginning. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** Simulates tenants beside each other. Returns the waits of healthy attempts that were due in the period. */
export function simulateQuickLanes(
  plan: ServicePlan,
  tenants: readonly Tenant[],
  { from, until }: Period,
  random: Random,
): QuickLanesResult {
  const time = makeVirtualTime();
  const waits = { first: [] as { due: number; wait: number }[], retries: [] as { due: number; wait: number }[] };
  let longestUnseen = 0;
  const end = until + drainTime;

  const tables = makeSimulatedTables<SimulatedMessage>(time, slowRate, (message, delay, slotSeries) => {
    if (slotSeries === undefined) sendToRetryLane(message, delay);
    else time.at(time.now() + delay, () => attemptInSlowLane(message, slotSeries));
  });
  const queues = {
    first: makeSimulatedQueue<SimulatedMessage>(time, plan.isFair, () => first.dispatch()),
    retry: makeSimulatedQueue<SimulatedMessage>(time, plan.isFair, () => retry.dispatch()),
  };
  const attemptInSlowLane = makeSlowLaneEffects(time, tables, slowRate, random, retryLater);
  const first = addLane('first');
  const retry = addLane('retry');

  publishAll();
  for (const { webhook, putEvery } of tenants) if (putEvery !== undefined) replaceEvery(webhook, putEvery);
  time.runUntil(end);
  const deadLetters = queues.first.deadLetters() + queues.retry.deadLetters();
  const processes = { first: first.processes(), retry: retry.processes() };
  return { ...waits, deadLetters, longestUnseen, processes };

  function publishAll(): void {
    const events = tenants.flatMap(tenant => tenant.publishes.map((due, number) => ({ tenant, due, number })));
    events.sort((one, other) => one.due - other.due);
    let next = 0;
    const publish = () => {
      for (; events[next] && (events[next]?.due ?? 0) <= time.now(); next++) {
        const { tenant, due, number } = events[next] as (typeof events)[number];
        const { account, isReplayed = false } = tenant;
        queues[isReplayed ? 'retry' : 'first'].push({
          ...{ tenant, account, number, attempt: 1, due, isSeen: false, receives: 0, order: 0 },
          isStored: isReplayed,
        });
      }
      const upcoming = events[next];
      if (upcoming) time.at(upcoming.due, publish);
    };
    time.at(0, publish);
  }

  function addLane(lane: 'first' | 'retry') {
    const queue = queues[lane];
    const countMessages = followCount(queue.length);
    const observe = () => {
      queue.observe();
      if (time.now() < end) time.at(time.now() + 1_000, observe);
    };
    time.at(0, observe);
    const makeProcess = (): WorkerProcess => {
      const process = makeFunctionProcess(time, plan.attemptsPerWebhook, countMessages);
      return { ...process, tracker: makeSimulatedTracker(time, process, tables), slots: new Map() };
    };
    const handleBatch = makeProcessMessages({
      time,
      tables,
      lane,
      plan,
      random,
      onAttempt: noteAttempt,
      onStored: noteSeen,
      attemptInSlowLane,
      sendToRetryLane,
      retryLater,
    });
    return simulateConsumer({
      time,
      queue,
      places: plan.places[lane],
      settings: plan,
      until: end,
      random,
      makeProcess,
      handleBatch,
    });
  }

  /** Of what decides here a new URL clears only since when the webhook fails. */
  function replaceEvery(webhook: string, every: number): void {
    tables.recordOf(webhook).failingSince = undefined;
    if (time.now() < end) time.at(time.now() + every, () => replaceEvery(webhook, every));
  }

  /** Returns the number of visible messages as it was a while ago. */
  function followCount(count: () => number): () => number {
    const seen: number[] = [];
    const look = () => {
      seen.push(count());
      if (time.now() < end) time.at(time.now() + countStep, look);
    };
    time.at(0, look);
    return () => seen[Math.floor((time.now() - plan.countLag) / countStep)] ?? 0;
  }

  function noteAttempt(message: SimulatedMessage): void {
    noteSeen(message);
    const { tenant, due, attempt } = message;
    if (!tenant.isHealthy || due < from || due >= until) return;
    waits[attempt === 1 ? 'first' : 'retries'].push({ due, wait: time.now() - due });
  }

  function noteSeen(message: SimulatedMessage): void {
    if (!message.isSeen) longestUnseen = Math.max(longestUnseen, time.now() - message.due);
    message.isSeen = true;
  }

  function sendToRetryLane(message: SimulatedMessage, delay: number): void {
    const visibleAt = time.now() + Math.ceil(delay / 1_000) * 1_000;
    message.receives = 0;
    time.at(visibleAt, () => queues.retry.push(message));
  }

  /** The waits after the first one are longer than what is measured. */
  function retryLater({ tenant, account, number, attempt }: SimulatedMessage): void {
    if (attempt > 1) return;
    const delay = Math.ceil((retryWait * (0.8 + 0.2 * random())) / 1_000) * 1_000;
    const due = time.now() + delay;
    sendToRetryLane(
      { tenant, account, number, attempt: 2, due, isStored: true, isSeen: true, receives: 0, order: 0 },
      delay,
    );
  }
}

/** The time that the simulation goes on after the measured period, for attempts that are still under way. */
const drainTime = 30_000;

/** Attempts a second of a slow webhook. */
const slowRate = 20;

const countStep = 100;

const retryWait = 5_000;
