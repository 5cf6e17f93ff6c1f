import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { parseEventMessage } from '../../lambdas/delivery/event.ts';
import { retryMessage } from '../../lambdas/delivery/retry-queue.ts';
import type { DeadLetter, Queues } from './queues.ts';

/** How a redrive goes about it. */
export interface RedriveOptions {
  /** Messages a second. */
  readonly rate: number;
  readonly limit: number;
}

/** A message that would only come back, and why. */
export interface KeptLetter {
  readonly messageId: string;
  readonly detail: string;
}

const eventMessage = z.looseObject({ id_conta: z.string(), id: z.string().optional() });

/** Where a message belongs, and as what; or why it would only come back. */
type Destination =
  | { readonly queue: 'EventsQueueUrl' | 'RetryQueueUrl'; readonly body: string; readonly account: string }
  | { readonly refused: string };

/** An event without an id of its own gets the message id it was published under: it stays the same event. */
const destinationOf = ({ messageId, body }: DeadLetter): Destination => {
  const verdict = parseEventMessage(body, messageId, 'https://unused.example.com');
  if (verdict.outcome === 'event') {
    const event = eventMessage.parse(JSON.parse(body));
    const sent = JSON.stringify({ ...event, id: event.id ?? messageId });
    return { queue: 'EventsQueueUrl', body: sent, account: event.id_conta };
  }
  try {
    const retry = retryMessage.parse(JSON.parse(body));
    return { queue: 'RetryQueueUrl', body, account: retry.id_conta };
  } catch {
    return { refused: verdict.detail };
  }
};

/** Sends before it removes: an interruption leaves a copy, which the delivery recognises, and never loses a message. */
const move = async (queues: Queues, letter: DeadLetter): Promise<Destination> => {
  const destination = destinationOf(letter);
  if ('refused' in destination) return destination;
  await queues.send(destination.queue, destination.body, destination.account);
  await queues.remove(letter);
  return destination;
};

/**
 * Puts dead letters that can be processed now back on the queue they belong to; the others stay. `inHand` is about how
 * many somebody else has in hand.
 */
export const redriveDeadLetters = async (
  queues: Queues,
  { rate, limit }: RedriveOptions,
): Promise<{ moved: number; kept: readonly KeptLetter[]; inHand: number }> => {
  const inHand = await queues.countInHand();
  const kept: KeptLetter[] = [];
  let moved = 0;
  for await (const letter of queues.deadLetters(limit)) {
    const destination = await move(queues, letter);
    if ('refused' in destination) {
      kept.push({ messageId: letter.messageId, detail: destination.refused });
    } else {
      moved += 1;
      await pause(1_000 / rate);
    }
  }
  return { moved, kept, inHand: Math.min(inHand, await queues.countInHand()) };
};
