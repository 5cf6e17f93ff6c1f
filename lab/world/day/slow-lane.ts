import type { Random } from '../../../tools/support/random.ts';
import { aboutSixty, type SlowLaneFigures } from '../isolation/bounds.ts';
import { Fifo } from './fifo.ts';
import { deadline, makeSlowConsumer, type Places } from './slow-consumer.ts';
import { makeSlowQueue, type SlowQueue } from './slow-queue.ts';
import { handOver, sweep } from './slow-slots.ts';
import { eventsOf, makeSlowWebhook, type SlowWebhook } from './slow-webhook.ts';
import { step } from './steps.ts';

/** A load of the slow lane. */
export interface SlowLanePlan {
  readonly places: Places;
  readonly isFair: boolean;
  /** The number of webhooks that hang, and events a second of each. */
  readonly hanging: number;
  readonly hangingRate: number;
  /** Until then they answer in 2.5 s, in milliseconds from the beginning. */
  readonly hangsFrom: number;
  /** Events a second of the bystander: a webhook that is slow, but answers in three seconds. */
  readonly bystanderRate: number;
  readonly hours: number;
}

/** The fate of the bystander, and the work of the lane. */
export interface SlowLaneResult extends SlowLaneFigures {
  /** The delay of the bystander's attempts beyond when due, in milliseconds: the 99th percentile. */
  readonly bystanderP99: number;
  readonly attempts: number;
  /** At the end. */
  readonly queued: number;
  readonly waitingInTable: number;
}

/** Simulates slow webhooks in the slow lane with all their retries, in steps of a tenth of a second. */
export function simulateSlowLane(plan: SlowLanePlan, random: Random): SlowLaneResult {
  const bystander = makeSlowWebhook(plan.bystanderRate, () => bystanderAnswers);
  const hanging = Array.from({ length: plan.hanging }, () =>
    makeSlowWebhook(plan.hangingRate, moment => (moment < plan.hangsFrom ? answersBefore : deadline)),
  );
  const webhooks = [...hanging, bystander];
  const queue = makeSlowQueue(webhooks, plan.isFair);
  const waits = makeWaits();
  const crowds = makeCrowds(hanging);
  let attempts = 0;
  const consumer = makeSlowConsumer({ queue, places: plan.places, random, onAttempt });

  for (let now = 0; now < plan.hours * 60 * minute; now += step) {
    for (const [index, webhook] of webhooks.entries()) {
      const events = eventsOf(webhook, now);
      handOverDue(webhook, events, queue, now);
      if (webhook === bystander) waits.expect(events, now);
      if (now % minute === index * step) sweep(webhook, queue, now);
    }
    queue.appear(now);
    consumer.endAttempts(now);
    consumer.receive(now);
    crowds.observe();
  }
  return {
    ...waits.result(),
    attempts,
    ...crowds.result(),
    queued: queue.length(),
    waitingInTable: webhooks.reduce((sum, { table }) => sum + table.length, 0),
  };

  function onAttempt(webhook: SlowWebhook, now: number): void {
    attempts += 1;
    if (webhook === bystander) waits.observe(now);
  }
}

/** Hands over what is due: retries by the numbers of their attempts, and then the first attempts of events. */
function handOverDue(webhook: SlowWebhook, events: number, queue: SlowQueue, now: number): void {
  const retries = webhook.retries.take(now).sort((one, other) => one - other);
  for (const number of retries) handOver(webhook, number, queue, now);
  for (let event = 0; event < events; event++) handOver(webhook, 1, queue, now);
}

/** Makes what measures how late the bystander's attempts begin. They never overtake each other. */
function makeWaits() {
  const due = new Fifo<number>();
  const waits: number[] = [];
  return { expect, observe, result };

  /** Events come that are due now. */
  function expect(events: number, now: number): void {
    for (let event = 0; event < events; event++) due.push(now);
  }

  /** The next attempt begins. */
  function observe(now: number): void {
    waits.push(now - due.shift());
  }

  function result(): Pick<SlowLaneResult, 'bystanderP99' | 'bystanderLongest'> {
    const sorted = waits.sort((one, other) => one - other);
    return { bystanderP99: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0, bystanderLongest: sorted.at(-1) ?? 0 };
  }
}

/** Makes what measures how many attempts are under way at each of the webhooks. */
function makeCrowds(webhooks: readonly SlowWebhook[]) {
  let mostUnderWay = 0;
  const stepsWithMany = webhooks.map(() => 0);
  return { observe, result };

  /** A step is over. */
  function observe(): void {
    for (const [index, { attemptsUnderWay }] of webhooks.entries()) {
      mostUnderWay = Math.max(mostUnderWay, attemptsUnderWay);
      if (attemptsUnderWay > aboutSixty) stepsWithMany[index] = (stepsWithMany[index] ?? 0) + 1;
    }
  }

  function result(): Pick<SlowLaneResult, 'mostUnderWay' | 'manyUnderWayFor'> {
    return { mostUnderWay, manyUnderWayFor: Math.max(0, ...stepsWithMany) * step };
  }
}

const minute = 60_000;

const bystanderAnswers = 3_000;

/** The answers of webhooks before they hang. */
const answersBefore = 2_500;
