import { createInterface } from 'node:readline/promises';
import { Option } from 'commander';
import { CliError } from './cli-error.ts';

/** The streams of a command: the process's own, or those of a test. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Pick<NodeJS.WriteStream, 'write'>;
  readonly stderr: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
}

/** Shows how far a long command is; each text replaces the one before. */
export type ShowProgress = (text: string) => void;

/** The progress of one command. `clear` removes it from a terminal before anything else is written. */
export interface Progress {
  readonly show: ShowProgress;
  clear(): void;
}

/** Shows nothing: with `--json`, standard error holds nothing but an error. */
export function noProgress(_text: string): void {}

/** The progress of a command that begins now. It shows nothing in the first second. */
export function makeProgress(output: Streams['stderr'], now: () => number = Date.now): Progress {
  const startedAt = now();
  let shownAt = Number.NEGATIVE_INFINITY;
  let latest = '';
  return {
    show: function showProgress(text) {
      const isEarly = now() - startedAt < quietMs || (!output.isTTY && now() - shownAt < lineIntervalMs);
      if (text === latest || isEarly) return;
      latest = text;
      shownAt = now();
      output.write(output.isTTY ? `${eraseLine}${text}` : `${text}\n`);
    },
    clear: function clearProgress() {
      if (output.isTTY && latest !== '') output.write(eraseLine);
      latest = '';
    },
  };
}

/** The option of every command that asks before it does what cannot be undone. */
export function yesOption(): Option {
  return new Option('--yes', 'do what cannot be undone without asking');
}

/** The value of that option. */
export interface Confirmed {
  readonly yes?: boolean;
}

/**
 * Asks before something that cannot be undone. Without a terminal it refuses, unless the command was given `--yes`. The
 * question goes to standard error, so that standard output holds nothing but the `--json` answer.
 *
 * @param consequences - what the command will do, in a sentence: `This ends every access token of stage prod.`
 * @param yes - whether `--yes` was given.
 * @throws {CliError} unless the answer is yes.
 */
export async function confirm(consequences: string, yes = false, terminal: QuestionStreams = process): Promise<void> {
  if (yes) return;
  if (!terminal.stdin.isTTY) {
    throw new CliError(`${consequences} That cannot be undone, and without a terminal nobody can be asked: add --yes.`);
  }
  const prompt = createInterface({ input: terminal.stdin, output: terminal.stderr });
  // The end of the input (Ctrl-D) closes the prompt without an answer, and the question would wait for ever.
  const closed = new Promise<string>(resolve => prompt.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([prompt.question(`${consequences}\nType "yes" to go on: `), closed]);
    if (answer.trim() !== 'yes') throw new CliError('cancelled: nothing was changed.');
  } finally {
    prompt.close();
  }
}

/** A command shows no progress for so long, in milliseconds. */
const quietMs = 1_000;

/** Without a terminal every progress is a line of its own, written at most this often. In milliseconds. */
const lineIntervalMs = 5_000;

const eraseLine = '\r\u001b[K';

interface QuestionStreams {
  readonly stdin: Streams['stdin'];
  readonly stderr: NodeJS.WritableStream;
}
