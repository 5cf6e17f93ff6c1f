import { backoffWait } from '../../lambdas/delivery/backoff.ts';
import {
  countsStill,
  type Slots,
  type Slowness,
  slotInterval,
  takeSlots,
  unknownSlowness,
  withDuration,
  withSlowDns,
} from '../../lambdas/delivery/isolation/slowness.ts';
import { attemptsPerProcess, hangsAfter, mostStopsEarlier } from '../../lambdas/delivery/limits.ts';
import { planOf } from '../../lambdas/delivery/sweeper/slow-backlog.ts';
import type { Random } from '../../tools/support/random.ts';
import { type Places, receivesFor } from './lane-consumer.ts';
import { RingBuffer } from './ring-buffer.ts';

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
export interface SlowLaneResult {
  /** The delay of the bystander's attempts beyond when due, in milliseconds: the 99th percentile and the longest. */
  readonly bystanderP99: number;
  readonly bystanderLongest: number;
  readonly attempts: number;
  /** The most attempts under way at once at one that hangs, and for how long there were more than 66: a tenth over 60. */
  readonly mostUnderWay: number;
  readonly manyUnderWayFor: number;
  /** At the end. */
  readonly queued: number;
  readonly waitingInTable: number;
}

/** Simulates slow webhooks in the slow lane with all their retries, in steps of a tenth of a second. */
export function simulateSlowLane(plan: SlowLanePlan, random: Random): SlowLaneResult {
  const webhooks = Array.from({ length: plan.hanging + 1 }, (_, index): SlowWebhook => {
    const isBystander = index === plan.hanging;
    return {
      index,
      rate: isBystander ? plan.bystanderRate : plan.hangingRate,
      answersAt: now => (isBystander ? bystanderAnswers : now < plan.hangsFrom ? answersBefore : deadline),
      slowness: withSlowDns(unknownSlowness, 0),
      slots: { nextSlotAt: 0, slotSeries: 0 },
      isBacklogged: false,
      table: new RingBuffer(),
      retries: new Map(),
    };
  });
  const bystander = webhooks.at(-1) as SlowWebhook;
  /** The slow queue: attempts by the tick at which they become visible, and those that wait, by webhook or all together. */
  const delayed = new Map<number, number[]>();
  const queues = plan.isFair ? webhooks.map(() => new RingBuffer()) : [new RingBuffer()];
  const ends = new Map<number, number[]>();
  /** The webhooks of which a step shows that they hang. */
  const notes = new Map<number, Set<SlowWebhook>>();
  const processes: Process[] = [];
  const bystanderWaits: number[] = [];
  let places = plan.places.atFirst;
  let attempts = 0;
  let mostUnderWay = 0;
  const manyUnderWay = new Uint32Array(plan.hanging);

  /** A message is visible after whole seconds. It names its webhook, the number of its attempt, and the series of its slot. */
  const send = (webhook: SlowWebhook, number: number, at: number, now: number) => {
    const due = Math.ceil((now + Math.ceil(Math.max(0, at - now) / 1_000) * 1_000) / tick);
    const messages = delayed.get(due) ?? [];
    messages.push(webhook.index * 16 + number + (webhook.slots.slotSeries % seriesKept) * seriesUnit);
    delayed.set(due, messages);
  };
  const handOver = (webhook: SlowWebhook, number: number, now: number) => {
    if (webhook.isBacklogged) webhook.table.push(number);
    else takeSlot(webhook, number, now);
  };
  const takeSlot = (webhook: SlowWebhook, number: number, now: number) => {
    const taken = takeSlots(webhook.slots, 1, slotInterval(webhook.slowness, slowRate), now);
    if (taken) {
      webhook.slots = taken.after;
      send(webhook, number, taken.firstAt, now);
      return;
    }
    webhook.isBacklogged = true;
    webhook.table.push(number);
  };
  const sweep = (webhook: SlowWebhook, now: number) => {
    if (!webhook.isBacklogged) return;
    const { beginAt, interval, most, slots } = planOf({ ...webhook.slowness, ...webhook.slots }, slowRate, now);
    const given = Math.min(most, webhook.table.length);
    webhook.slots = { ...slots, nextSlotAt: beginAt + given * interval };
    for (let slot = 0; slot < given; slot++) send(webhook, webhook.table.shift(), beginAt + slot * interval, now);
    if (webhook.table.length === 0) webhook.isBacklogged = false;
  };
  const retryLater = (webhook: SlowWebhook, number: number, now: number) => {
    const wait = backoffWait(schedule, { charged: number, retryAfterMs: undefined }, random);
    if (wait === undefined) return;
    const due = Math.ceil((now + wait) / tick);
    const counts = webhook.retries.get(due) ?? new Uint32Array(16);
    counts[number + 1] = (counts[number + 1] ?? 0) + 1;
    webhook.retries.set(due, counts);
  };

  /** The next message: of the webhook with the fewest attempts under way if queues are fair, in order otherwise. */
  const underWayOf = new Uint32Array(webhooks.length);
  const next = (): number | undefined => {
    if (!plan.isFair) return (queues[0]?.length ?? 0) > 0 ? queues[0]?.shift() : undefined;
    let best: number | undefined;
    for (let index = 0; index < queues.length; index++) {
      if ((queues[index]?.length ?? 0) === 0) continue;
      if (best === undefined || (underWayOf[index] ?? 0) < (underWayOf[best] ?? 0)) best = index;
    }
    return best === undefined ? undefined : queues[best]?.shift();
  };
  const queued = () => queues.reduce((sum, queue) => sum + queue.length, 0);

  const webhookOf = (message: number) => webhooks[(message % seriesUnit) >> 4] as SlowWebhook;
  /** Returns whether the slot of a message counts still. Otherwise it takes another, and its process some time. */
  const mayBegin = (message: number, process: number, at: number): boolean => {
    const { slots, slowness, ...webhook } = webhookOf(message);
    const isPresent = Math.floor(message / seriesUnit) === slots.slotSeries % seriesKept;
    if (isPresent && countsStill(slots, slots.slotSeries, slotInterval(slowness, slowRate))) return true;
    takeSlot(webhooks[webhook.index] as SlowWebhook, message & 15, at * tick);
    endAt(at + movedIn, nothing, process);
    return false;
  };
  const endAt = (over: number, message: number, process: number) => {
    const ending = ends.get(over) ?? [];
    ending.push(message, process);
    ends.set(over, ending);
  };
  const begin = (message: number, process: number, at: number) => {
    const webhook = webhookOf(message);
    const took = webhook.answersAt(at * tick);
    attempts += 1;
    underWayOf[webhook.index] = (underWayOf[webhook.index] ?? 0) + 1;
    if (webhook === bystander) bystanderWaits.push(at * tick - (bystanderDue.shift() ?? at * tick));
    endAt(at + took / tick, message, process);
    if (took > hangsAfter)
      notes.set(at + hangsAfter / tick, (notes.get(at + hangsAfter / tick) ?? new Set()).add(webhook));
  };
  /** The moments when the bystander's attempts were due, in the order in which they are begun: they never overtake each other. */
  const bystanderDue: number[] = [];

  const last = plan.hours * 60 * ticksPerMinute;
  for (let at = 0; at < last; at++) {
    const now = at * tick;
    for (const webhook of webhooks) {
      const due = webhook.retries.get(at);
      webhook.retries.delete(at);
      due?.forEach((count, number) => {
        for (let one = 0; one < count; one++) handOver(webhook, number, now);
      });
      const arrivals =
        Math.floor(((at + 1) * webhook.rate) / ticksPerSecond) - Math.floor((at * webhook.rate) / ticksPerSecond);
      for (let one = 0; one < arrivals; one++) {
        if (webhook === bystander) bystanderDue.push(now);
        handOver(webhook, 1, now);
      }
      if (at % ticksPerMinute === webhook.index) sweep(webhook, now);
    }
    for (const message of delayed.get(at) ?? [])
      (plan.isFair ? queues[webhookOf(message).index] : queues[0])?.push(message);
    delayed.delete(at);
    for (const webhook of notes.get(at) ?? [])
      webhook.slowness = withDuration(webhook.slowness, deadline, now) ?? webhook.slowness;
    notes.delete(at);

    const over = ends.get(at) ?? [];
    ends.delete(at);
    for (let index = 0; index < over.length; index += 2) {
      const [message = 0, process = 0] = [over[index], over[index + 1]];
      const owner = processes[process];
      if (owner) owner.underWay -= 1;
      if (message === nothing) continue;
      const webhook = webhookOf(message);
      underWayOf[webhook.index] = (underWayOf[webhook.index] ?? 1) - 1;
      const took =
        webhook === bystander ? bystanderAnswers : now < plan.hangsFrom + answersBefore ? answersBefore : deadline;
      webhook.slowness = withDuration(webhook.slowness, took, now) ?? webhook.slowness;
      if (took === deadline) retryLater(webhook, message & 15, now);
    }

    // Places grow while messages wait; each receives a batch a step while it may, and begins anew when all is over.
    if (queued() > 0 && places < plan.places.most && at % (ticksPerSecond / plan.places.growth) === 0) places += 1;
    for (let index = 0; index < places && queued() > 0; index++) {
      const process = processes[index] ?? { underWay: 0, receivesUntil: 0 };
      processes[index] = process;
      if (process.underWay === 0) process.receivesUntil = now + receivesFor - random() * mostStopsEarlier;
      const mayReceive = process.underWay === 0 || now < process.receivesUntil;
      if (!mayReceive || process.underWay + batchSize > attemptsPerProcess.slow) continue;
      for (let taken = 0; taken < batchSize; taken++) {
        const message = next();
        if (message === undefined) break;
        process.underWay += 1;
        if (mayBegin(message, index, at)) begin(message, index, at);
      }
    }
    for (let index = 0; index < plan.hanging; index++) {
      const underWay = underWayOf[index] ?? 0;
      mostUnderWay = Math.max(mostUnderWay, underWay);
      if (underWay > aboutSixty) manyUnderWay[index] = (manyUnderWay[index] ?? 0) + 1;
    }
  }
  bystanderWaits.sort((one, other) => one - other);
  return {
    bystanderP99: bystanderWaits[Math.ceil(bystanderWaits.length * 0.99) - 1] ?? 0,
    bystanderLongest: bystanderWaits.at(-1) ?? 0,
    attempts,
    mostUnderWay,
    manyUnderWayFor: Math.max(0, ...manyUnderWay) * tick,
    queued: queued(),
    waitingInTable: webhooks.reduce((sum, { table }) => sum + table.length, 0),
  };
}

interface SlowWebhook {
  readonly index: number;
  readonly rate: number;
  /** Returns the duration of an attempt that begins at a moment, in milliseconds. */
  readonly answersAt: (now: number) => number;
  slowness: Slowness;
  slots: Slots;
  isBacklogged: boolean;
  /** The attempts that wait in the table, by their numbers. */
  readonly table: RingBuffer;
  /** Attempts that fall due, by minute and number of the attempt. */
  readonly retries: Map<number, Uint32Array>;
}

const bystanderAnswers = 3_000;

/** The answers of webhooks before they hang. */
const answersBefore = 2_500;

/** About 60: a tenth more, by which durations may differ. */
const aboutSixty = 66;

/** A message is a number of 16 bits: 10 for its webhook and attempt, the others for the end of the number of its slot's series. */
const seriesUnit = 1_024;
const seriesKept = 64;

/** Steps until a message that takes another slot is hidden: three calls, and those of its batch. */
const movedIn = 1;

/** Stands for a message that was hidden: its process has it no more. */
const nothing = -1;

const deadline = 15_000;

interface Process {
  /** Attempts that end, by tick. */
  underWay: number;
  /** Once it has received for this long, it ends when all that it has begun is over. */
  receivesUntil: number;
}

const tick = 100;

const slowRate = 20;

const schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map(seconds => seconds * 1_000);

const ticksPerSecond = 1_000 / tick;
const ticksPerMinute = 60 * ticksPerSecond;

const batchSize = 10;
