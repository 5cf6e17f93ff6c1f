import type { RejectedMessage } from '../../lambdas/delivery/event.ts';
import { CliError } from './cli-error.ts';
import type { DeadLetter, Queues } from './queues.ts';
import type { ShowProgress } from './terminal.ts';

/** Which dead letters are discarded: those published under these ids, or all that were refused for a reason. */
export type Discarded = { readonly ids: readonly string[] } | { readonly reason: RejectedMessage['reason'] };

/** One dead letter by the id it was published under, and how many there are of that id. @throws {CliError} where there is none */
export async function findDeadLetter(
  queues: Pick<Queues, 'deadLetters'>,
  messageId: string,
): Promise<{ letter: DeadLetter; copies: number }> {
  const found: DeadLetter[] = [];
  for await (const letter of queues.deadLetters(mostLetters)) {
    if (letter.origin.messageId === messageId) found.push(letter);
  }
  const [letter] = found;
  if (!letter) throw noLetter([messageId]);
  return { letter, copies: found.length };
}

/** Takes dead letters off the queue for good. Gives how many. @throws {CliError} where an id names none */
export async function discardDeadLetters(
  queues: Pick<Queues, 'deadLetters' | 'remove'>,
  discarded: Discarded,
  progress: ShowProgress,
): Promise<number> {
  const missing = new Set('ids' in discarded ? discarded.ids : []);
  let looked = 0;
  let removed = 0;
  for await (const letter of queues.deadLetters(mostLetters)) {
    looked += 1;
    progress(`Looked at ${looked} messages, discarded ${removed}`);
    if (!isMeant(letter, discarded)) continue;
    await queues.remove(letter);
    removed += 1;
    missing.delete(letter.origin.messageId);
  }
  if (missing.size === 0) return removed;
  const error = noLetter([...missing]);
  throw removed === 0 ? error : new CliError(`discarded ${removed}, but ${error.message}`);
}

/** How many dead letters one command goes through. */
const mostLetters = 100_000;

function noLetter(ids: readonly string[]): CliError {
  return new CliError(`the dead-letter queue shows no message ${ids.join(', ')}: "dlq list" shows what it does.`);
}

function isMeant({ origin, reason }: DeadLetter, discarded: Discarded): boolean {
  return 'ids' in discarded ? discarded.ids.includes(origin.messageId) : reason === discarded.reason;
}
