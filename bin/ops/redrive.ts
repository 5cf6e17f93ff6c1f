import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { parseEventMessage } from '../../lambdas/delivery/event.ts';
import { retryMessage } from '../../lambdas/delivery/retry-queue.ts';
import type { DeadLetter, Queues } from './queues.ts';
import type { ShowProgress } from './terminal.ts';

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

/**
 * Puts dead letters that can be processed now back on the queue they belong to; the others stay. `inHand` is about how
 * many somebody else has in hand.
 */
export async function redriveDeadLetters(
  queues: Queues,
  { rate, limit }: RedriveOptions,
  progress: ShowProgress,
): Promise<{ moved: number; kept: readonly KeptLetter[]; inHand: number }> {
  const inHand = await queues.countInHand();
  const kept: KeptLetter[] = [];
  let moved = 0;
  for await (const letter of queues.deadLetters(limit)) {
    const destination = await move(queues, letter);
    if ('refused' in destination) {
      kept.push({ messageId: letter.origin.messageId, detail: destination.refused });
    } else {
      moved += 1;
      progress(`Moved ${moved}, kept ${kept.length}`);
      await pause(1_000 / rate);
    }
  }
  return { moved, kept, inHand: Math.min(inHand, await queues.countInHand()) };
}

/** Sends before it removes: an interruption leaves a copy, which the delivery recognises, and never loses a message. */
async function move(queues: Queues, letter: DeadLetter): Promise<Destination> {
  const destination = destinationOf(letter);
  if ('refused' in destination) return destination;
  await queues.send(destination.queue, destination.body, destination.account, letter.origin);
  await queues.remove(letter);
  return destination;
}

/** Where a message belongs, and as what; or why it would only come back. */
type Destination =
  | { readonly queue: 'EventsQueueUrl' | 'RetryQueueUrl'; readonly body: string; readonly account: string }
  | { readonly refused: string };

/** An event without an id of its own gets the message id it was published under: it stays the same event, whoever reads it. */
function destinationOf({ origin, body }: DeadLetter): Destination {
  const verdict = parseEventMessage(body, origin.messageId, 'https://unused.example.com');
  if (verdict.outcome === 'event') {
    const event = eventMessage.parse(JSON.parse(body));
    const sent = event.id === undefined ? JSON.stringify({ ...event, id: origin.messageId }) : body;
    return { queue: 'EventsQueueUrl', body: sent, account: verdict.event.accountId };
  }
  try {
    return { queue: 'RetryQueueUrl', body, account: retryMessage.parse(JSON.parse(body)).accountId };
  } catch {
    return { refused: verdict.detail };
  }
}

const eventMessage = z.looseObject({ id: z.optional(z.string()) });
