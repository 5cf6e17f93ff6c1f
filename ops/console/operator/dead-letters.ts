import { isoTime } from '../../../lambdas/platform/clock.ts';
import { discardLetters, listLetters as listDead, redriveLetters, showLetter } from '../../deliveries/dlq.command.ts';
import { NoLetter } from '../../deliveries/no-letter.ts';
import type { Task } from '../../stage/target.ts';

/**
 * Makes the part of an operator's source that shows dead letters and works on them. To see a letter is to receive it, which hides it from
 * everybody else: so a look serves all viewers of this console for a while, and what it does at the queue it does one after the other.
 */
export function operatorDeadLetters(task: Task) {
  const { now } = task.target.clock;
  let look: { readonly at: number; readonly view: Promise<LettersView> } | undefined;
  let redrive: Redrive | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  return { listLetters, readLetter, startRedrive, readRedrive, cancelRedrive, endRedrive, discard };

  /** Returns what the latest look found. */
  function listLetters(): Promise<LettersView> {
    if (look && now() - look.at < lookMs) return look.view;
    const view = inTurn(readLetters);
    const made = { at: now(), view };
    look = made;
    view.catch(() => {
      if (look === made) look = undefined;
    });
    return view;
  }

  async function readLetters(): Promise<LettersView> {
    const at = isoTime(now());
    const { letters, ...found } = await listDead.act(task, { limit: mostLetters, bodies: false });
    return { letters: letters.map(letterView), ...found, at };
  }

  /** Returns the body of a letter. Each look is audited. */
  async function readLetter(id: string): Promise<string> {
    return (await inTurn(() => showLetter.act(task, { message: id }))).body;
  }

  /** Begins to move these letters, ten a second, in the background of this process. Returns false where a redrive runs already. */
  async function startRedrive(ids: readonly string[]): Promise<boolean> {
    if (isRunning()) return false;
    const begun: Redrive = { state: 'running', total: ids.length, moved: 0, kept: 0, keptLetters: [] };
    redrive = begun;
    const watch = {
      tell: (done: Pick<Redrive, 'moved' | 'kept'>) => Object.assign(begun, done),
      isCancelled: () => begun.state === 'cancelling',
    };
    inTurn(() => redriveLetters.act(task, { ids, rate: 10, limit: mostLetters, watch }))
      .catch(outcomeWithout)
      .then(
        ({ moved, kept: keptLetters }) => {
          const state = begun.state === 'cancelling' ? 'cancelled' : 'done';
          Object.assign(begun, { moved, kept: keptLetters.length, keptLetters, state });
        },
        error => Object.assign(begun, { state: 'failed', error }),
      )
      .finally(() => {
        look = undefined;
      });
    return true;
  }

  /** Returns how far the latest redrive is. */
  async function readRedrive(): Promise<RedriveView | undefined> {
    return redrive && { ...redrive };
  }

  /** Ends the redrive after the letter that it is at. */
  async function cancelRedrive(): Promise<void> {
    if (redrive?.state === 'running') redrive.state = 'cancelling';
  }

  /** Cancels the redrive, and waits until it has ended. */
  async function endRedrive(): Promise<void> {
    await cancelRedrive();
    await turn.catch(() => undefined);
  }

  /** Discards letters. Returns how many, and which were not to be seen: gone, or in the hands of others. */
  async function discard(
    ids: readonly string[],
  ): Promise<Pick<NoLetter['outcome'], 'discarded' | 'missing' | 'inFlight'>> {
    try {
      return { discarded: await inTurn(() => discardLetters.act(task, { ids })), missing: [], inFlight: 0 };
    } catch (error) {
      return outcomeWithout(error);
    } finally {
      look = undefined;
    }
  }

  function isRunning(): boolean {
    return redrive?.state === 'running' || redrive?.state === 'cancelling';
  }

  function inTurn<Value>(act: () => Promise<Value>): Promise<Value> {
    const acted = turn.then(act, act);
    turn = acted;
    return acted;
  }
}

/** Returns what was done with the others, where letters were not to be seen. @throws every other error. */
function outcomeWithout(error: unknown): NoLetter['outcome'] {
  if (error instanceof NoLetter) return error.outcome;
  throw error;
}

/** The letters that one reading of the queue found. */
export interface LettersView {
  readonly letters: readonly LetterView[];
  /** About how many others have in their hands. */
  readonly inFlight: number;
  /** When it was looked, RFC 3339. */
  readonly at: string;
  /** True where there are more letters than a look goes through. */
  readonly isCutOff: boolean;
}

/** A message that the service could not process. */
export type LetterView = ReturnType<typeof letterView>;

/** The progress of a redrive. */
export type RedriveView = Readonly<Redrive>;

interface Redrive {
  state: 'running' | 'cancelling' | 'cancelled' | 'done' | 'failed';
  readonly total: number;
  moved: number;
  /** The number of those that cannot be processed now. */
  kept: number;
  /** They, and why, once it has ended. */
  readonly keptLetters: NoLetter['outcome']['kept'];
  /** Why it failed. */
  error?: unknown;
}

/** The time that a look is good for, in milliseconds. */
const lookMs = 30_000;

/** The number of letters that a look goes through. */
const mostLetters = 1_000;

type FoundLetter = Awaited<ReturnType<typeof listDead.act>>['letters'][number];

function letterView({ origin, reason, detail, sender, copies, names }: FoundLetter) {
  const sentAt = origin.sentAt === undefined ? null : isoTime(origin.sentAt);
  return { id: origin.messageId, sentAt, reason, detail, sender, copies, ...names };
}
