import { countsStill, slotInterval, takeSlots } from '../../../lambdas/delivery/isolation/slowness.ts';
import { planOf } from '../../../lambdas/delivery/sweeper/slow-backlog.ts';
import type { SlowMessage, SlowQueue } from './slow-queue.ts';
import type { SlowWebhook } from './slow-webhook.ts';

/** Hands over an attempt that is due: it gets a slot, or waits in the table behind what waits there already. */
export function handOver(webhook: SlowWebhook, number: number, queue: SlowQueue, now: number): void {
  if (webhook.isBacklogged) webhook.table.push(number);
  else takeSlot(webhook, number, queue, now);
}

/** Sends an attempt by the next slot. If that is too far off, the attempt waits in the table, and what comes after it. */
export function takeSlot(webhook: SlowWebhook, number: number, queue: SlowQueue, now: number): void {
  const taken = takeSlots(webhook.slots, 1, slotInterval(webhook.slowness, slowRate), now);
  if (taken) {
    webhook.slots = taken.after;
    queue.send(webhook, number, taken.firstAt, now);
  } else {
    webhook.isBacklogged = true;
    webhook.table.push(number);
  }
}

/** Gives slots to what waits in the table, as many as the sweeper gives in a minute. */
export function sweep(webhook: SlowWebhook, queue: SlowQueue, now: number): void {
  if (!webhook.isBacklogged) return;
  const { table, slowness } = webhook;
  const { beginAt, interval, most, slots } = planOf({ ...slowness, ...webhook.slots }, slowRate, now);
  const given = Math.min(most, table.length);
  webhook.slots = { ...slots, nextSlotAt: beginAt + given * interval };
  for (let slot = 0; slot < given; slot++) queue.send(webhook, table.shift(), beginAt + slot * interval, now);
  webhook.isBacklogged = table.length > 0;
}

/** Returns whether the slot of a message counts still. */
export function isTurnOf({ webhook: { slots, slowness }, slotSeries }: SlowMessage): boolean {
  return countsStill(slots, slotSeries, slotInterval(slowness, slowRate));
}

/** The most slots a second. */
const slowRate = 20;
