import { isoTime } from '../../../lambdas/platform/clock.ts';
import { discardLetters, listLetters as listDead, redriveLetters } from '../../deliveries/dlq.command.ts';
import type { DeadLetter } from '../../stage/queues.ts';
import type { Task } from '../../stage/target.ts';

/** Makes the part of an operator's source that shows dead letters and works on them. */
export function operatorDeadLetters(task: Task) {
  return { listLetters, findLetter, redrive, discard };

  async function listLetters() {
    return readLetters(200);
  }

  /** Finds a letter, or how many others are looking at: it may be among them. */
  async function findLetter(id: string) {
    const { letters, inFlight } = await readLetters(mostLetters);
    return { letter: letters.find(letter => letter.id === id), inFlight };
  }

  async function redrive() {
    const { moved, kept } = await redriveLetters.act(task, { rate: 10, limit: mostLetters });
    return { moved, kept: kept.length };
  }

  function discard(ids: readonly string[]) {
    return discardLetters.act(task, { ids });
  }

  async function readLetters(limit: number) {
    const { letters, inFlight } = await listDead.act(task, { limit, bodies: false });
    return { letters: letters.map(letterView), inFlight };
  }
}

/** The number of letters that one page goes through. */
const mostLetters = 1_000;

/** A message that the service could not process. */
export type LetterView = ReturnType<typeof letterView>;

function letterView({ origin, reason, detail, sender }: DeadLetter) {
  const sentAt = origin.sentAt === undefined ? null : isoTime(origin.sentAt);
  return { id: origin.messageId, sentAt, reason, detail, sender };
}
