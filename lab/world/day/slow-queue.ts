import { Calendar } from './calendar.ts';
import { Fifo } from './fifo.ts';
import type { SlowWebhook } from './slow-webhook.ts';
import { nextStep } from './steps.ts';

/** A message of the slow queue. */
export interface SlowMessage {
  readonly webhook: SlowWebhook;
  /** The number of its attempt. */
  readonly number: number;
  /** The series of its slot. */
  readonly slotSeries: number;
}

/** The slow queue. */
export interface SlowQueue {
  /** Sends an attempt, by a slot of the webhook's present series. It appears after whole seconds. */
  send(webhook: SlowWebhook, number: number, slotAt: number, now: number): void;
  /** Lets appear what is due now. What is sent for now after this is lost: the first message of each further series is. */
  appear(now: number): void;
  /** Takes the next message: of the webhook with the fewest attempts under way if the queue is fair, in order otherwise. */
  take(): SlowMessage | undefined;
  /** The messages that have appeared. */
  length(): number;
}

/** Makes an empty queue. */
export function makeSlowQueue(webhooks: readonly SlowWebhook[], isFair: boolean): SlowQueue {
  const hidden = new Calendar<SlowMessage>();
  const inOrder = new Fifo<SlowMessage>();
  const byWebhook = new Map(webhooks.map(webhook => [webhook, new Fifo<SlowMessage>()]));
  let length = 0;
  return { send, appear, take, length: () => length };

  function send(webhook: SlowWebhook, number: number, slotAt: number, now: number): void {
    const delay = Math.ceil(Math.max(0, slotAt - now) / 1_000) * 1_000;
    hidden.add(nextStep(now + delay), { webhook, number, slotSeries: webhook.slots.slotSeries });
  }

  function appear(now: number): void {
    for (const message of hidden.take(now)) {
      const queue = isFair ? byWebhook.get(message.webhook) : inOrder;
      queue?.push(message);
      length += 1;
    }
  }

  function take(): SlowMessage | undefined {
    const queue = isFair ? quietest() : inOrder;
    if (!queue || queue.length === 0) return undefined;
    length -= 1;
    return queue.shift();
  }

  function quietest(): Fifo<SlowMessage> | undefined {
    let fewest = Number.POSITIVE_INFINITY;
    let found: Fifo<SlowMessage> | undefined;
    for (const [{ attemptsUnderWay }, queue] of byWebhook) {
      if (queue.length === 0 || attemptsUnderWay >= fewest) continue;
      fewest = attemptsUnderWay;
      found = queue;
    }
    return found;
  }
}
