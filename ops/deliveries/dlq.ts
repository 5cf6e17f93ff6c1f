import * as z from 'zod';
import { parseEventMessage, type RejectedMessage } from '../../lambdas/delivery/intake/event.ts';
import { attemptMessage } from '../../lambdas/delivery/queues.ts';
import { looks, writes } from '../audit/audit.ts';
import { lookedAt } from '../stage/looked-at.ts';
import { CliError } from '../stage/operator.ts';
import { copyKey, type DeadLetter, openQueues, type Queues } from '../stage/queues.ts';
import type { Task } from '../stage/target.ts';

/** The operators' actions on dead letters. */
export const actions = {
  listLetters: looks('dlq list', listLetters, {
    isLook: ({ bodies }) => bodies,
    after: ({ letters }) => ({ count: letters.length }),
  }),
  redriveLetters: writes('dlq redrive', redriveLetters, { after: ({ moved }) => ({ count: moved }) }),
  findLetter: looks('dlq show', findLetter, { before: (_task, messageId) => ({ messages: [messageId] }) }),
  discardLetters: writes('dlq discard', discardLetters, {
    before: (_task, wanted) => ('ids' in wanted ? { messages: wanted.ids } : { all: wanted.reason }),
    after: count => ({ count }),
  }),
};

/** The reason why the delivery function refused a message. */
export type RejectionReason = RejectedMessage['reason'];

/** Dead letters, and about how many more another command has in flight. */
export interface DeadLetters {
  readonly letters: readonly ListedLetter[];
  readonly inFlight: number;
}

/** A dead letter, and how many copies of it were seen, itself included. */
export interface ListedLetter extends DeadLetter {
  readonly copies: number;
}

/** The pace and the extent of a redrive. */
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

/** The outcome of a redrive, copies counted once, with the approximate number of dead letters that another command has in flight. */
export interface Redriven {
  readonly moved: number;
  readonly kept: readonly KeptLetter[];
  readonly inFlight: number;
}

/** The choice of dead letters to discard: those published under these ids, or all that were refused for a reason. */
export type Discarded = { readonly ids: readonly string[] } | { readonly reason: RejectionReason };

/** Lists dead letters, copies as one, with their bodies only where these are asked for. */
async function listLetters(
  { target, progress, warn }: Task,
  { limit, bodies }: { readonly limit: number; readonly bodies: boolean },
): Promise<DeadLetters> {
  const queues = openQueues(target);
  const letters = new Map<string, ListedLetter>();
  const before = await queues.countInFlight();
  for await (const letter of queues.deadLetters(limit)) {
    const key = copyKey(letter);
    const copies = (letters.get(key)?.copies ?? 0) + 1;
    letters.set(key, { ...letter, body: bodies ? letter.body : '', copies });
    progress(`Found ${letters.size} messages so far`);
  }
  const after = await queues.countInFlight();
  const inFlight = letters.size === 0 ? Math.max(before, after) : Math.min(before, after);
  if (inFlight > 0) warn(lookedAt(inFlight));
  return { letters: [...letters.values()], inFlight };
}

/** Sends dead letters that can be processed now back to the queue they belong to; the others stay. */
async function redriveLetters({ target, progress }: Task, { rate, limit }: RedriveOptions): Promise<Redriven> {
  const queues = openQueues(target);
  const inFlight = await queues.countInFlight();
  const kept = new Map<string, KeptLetter>();
  const moved = new Set<string>();
  for await (const letter of queues.deadLetters(limit)) {
    const key = copyKey(letter);
    if (moved.has(key)) {
      await queues.remove(letter);
      continue;
    }
    const destination = await move(queues, letter);
    if ('refused' in destination) {
      kept.set(key, { messageId: letter.origin.messageId, detail: destination.refused });
    } else {
      moved.add(key);
      progress(`Moved ${moved.size}, kept ${kept.size}`);
      await target.pause(1_000 / rate);
    }
  }
  const others = Math.min(inFlight, await queues.countInFlight());
  return { moved: moved.size, kept: [...kept.values()], inFlight: others };
}

/** Finds one dead letter by the id it was published under, and how many there are of that id. @throws {CliError} where there is none */
async function findLetter({ target }: Task, messageId: string): Promise<ListedLetter> {
  const queues = openQueues(target);
  const before = await queues.countInFlight();
  const found: DeadLetter[] = [];
  for await (const letter of queues.deadLetters(mostLetters)) {
    if (letter.origin.messageId === messageId) found.push(letter);
  }
  const [letter] = found;
  if (!letter) throw noLetter([messageId], Math.max(before, await queues.countInFlight()));
  return { ...letter, copies: found.length };
}

/** Takes dead letters off the queue for good. Returns their number, copies counted once. @throws {CliError} where an id names none */
async function discardLetters({ target, progress, confirm, warn }: Task, wanted: Discarded): Promise<number> {
  const which = 'ids' in wanted ? wanted.ids.join(', ') : `of every message refused as ${wanted.reason}`;
  await confirm(`This deletes the dead letter ${which} of ${target.label} for good.`);
  const queues = openQueues(target);
  const missing = new Set('ids' in wanted ? wanted.ids : []);
  const removed = new Set<string>();
  const before = await queues.countInFlight();
  let looked = 0;
  for await (const letter of queues.deadLetters(mostLetters)) {
    looked += 1;
    progress(`Looked at ${looked} messages, discarded ${removed.size}`);
    if (!isMeant(letter, wanted)) continue;
    await queues.remove(letter);
    removed.add(copyKey(letter));
    missing.delete(letter.origin.messageId);
  }
  const inFlight = Math.max(before, await queues.countInFlight());
  if ('reason' in wanted && inFlight > 0) warn(lookedAt(inFlight));
  if (missing.size === 0) return removed.size;
  const error = noLetter([...missing], inFlight);
  throw removed.size === 0 ? error : new CliError(`discarded ${removed.size}, but ${error.message}`);
}

/** Sends before it removes: an interruption leaves a copy, which the delivery recognises, and never loses a message. */
async function move(queues: Queues, letter: DeadLetter): Promise<Destination> {
  const destination = destinationOf(letter);
  if ('refused' in destination) return destination;
  await queues.send(destination.queue, destination.body, destination.account, letter.origin);
  await queues.remove(letter);
  return destination;
}

/** The queue that a message belongs to, and its form there; or the reason why it would only come back. */
type Destination =
  | { readonly queue: 'EventsQueueUrl' | 'RetryQueueUrl'; readonly body: string; readonly account: string }
  | { readonly refused: string };

/** An event without an idempotency id gets its original message id as one, so that it keeps its delivery id. */
function destinationOf({ origin, body }: DeadLetter): Destination {
  const verdict = parseEventMessage(body, origin.messageId, 'https://unused.example.com');
  if (verdict.outcome === 'event') {
    const event = eventMessage.parse(JSON.parse(body));
    const sent = event.id === undefined ? JSON.stringify({ ...event, id: origin.messageId }) : body;
    return { queue: 'EventsQueueUrl', body: sent, account: verdict.event.accountId };
  }
  try {
    return { queue: 'RetryQueueUrl', body, account: attemptMessage.parse(JSON.parse(body)).accountId };
  } catch {
    return { refused: verdict.detail };
  }
}

const eventMessage = z.looseObject({ id: z.optional(z.string()) });

/** The number of dead letters that one command goes through. */
const mostLetters = 100_000;

function noLetter(ids: readonly string[], inFlight: number): CliError {
  const hint = inFlight === 0 ? '"dlq list" shows what it does' : lookedAt(inFlight);
  return new CliError(`the dead-letter queue shows no message ${ids.join(', ')}: ${hint}.`);
}

function isMeant({ origin, reason }: DeadLetter, wanted: Discarded): boolean {
  return 'ids' in wanted ? wanted.ids.includes(origin.messageId) : reason === wanted.reason;
}
