import { createInterface } from 'node:readline/promises';
import { buffer } from 'node:stream/consumers';
import { type AskPassword, CliError } from '../stage/operator.ts';
import type { OpsRuntime } from '../stage/ops-runtime.ts';

/** The streams of the process, or of a test. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Pick<NodeJS.WriteStream, 'write'>;
  readonly stderr: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  /** Interrupts a long command, like a signal to the process. */
  readonly interruption?: AbortSignal;
  /** The runtime of a test. */
  readonly runtime?: OpsRuntime;
}

/** Shows no progress, because with `--json` standard error contains only errors and warnings. */
export function noProgress(_text: string): void {}

/** Creates the progress line of a command that starts now. The line is empty for the first second. */
export function makeProgress(output: Streams['stderr'], now: () => number = Date.now) {
  const startedAt = now();
  let shownAt = Number.NEGATIVE_INFINITY;
  let latest = '';
  return {
    show: function showProgress(text: string): void {
      const isEarly = now() - startedAt < quietMs || (!output.isTTY && now() - shownAt < lineIntervalMs);
      if (text === latest || isEarly) return;
      latest = text;
      shownAt = now();
      output.write(output.isTTY ? `${eraseLine}${text}` : `${text}\n`);
    },
    /** Clears the progress line before other output. */
    clear: function clearProgress(): void {
      if (output.isTTY && latest !== '') output.write(eraseLine);
      latest = '';
    },
  };
}

/**
 * Asks for confirmation before an action that ends sessions or cannot be undone. The question is written to standard
 * error, because standard output contains only the result.
 * @param consequences - the effect of the command in a sentence, such as `This permanently deletes 12 messages.`
 * @param yes - true if `--yes` is set, which skips the question.
 * @throws {CliError} if the operator does not confirm, or if there is no terminal.
 */
export async function confirm(consequences: string, yes = false, terminal: QuestionStreams = process): Promise<void> {
  if (yes) return;
  if (!terminal.stdin.isTTY) {
    throw new CliError(`${consequences} There is no terminal. Add --yes to confirm.`);
  }
  const prompt = createInterface({ input: terminal.stdin, output: terminal.stderr });
  // Ctrl-D closes the prompt, but never settles the promise from `question`.
  const closed = new Promise<string>(resolve => prompt.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([prompt.question(`${consequences}\nType "yes" to continue: `), closed]);
    if (answer.trim() !== 'yes') throw new CliError('Cancelled. No changes were made.');
  } finally {
    prompt.close();
  }
}

/**
 * Creates a function that reads a password from a hidden prompt, or from standard input if it is not a terminal. A
 * password on the command line would be visible to other processes and stored in the shell's history.
 */
export function makeAskPassword(stdin: Streams['stdin'], stderr: NodeJS.WritableStream = process.stderr): AskPassword {
  return function askPassword(check) {
    return stdin.isTTY ? fromPrompt(check, stdin, stderr) : fromStandardInput(stdin);
  };
}

/** Prompts twice, because the input is hidden. Uses standard error, because standard output contains only the result. */
async function fromPrompt(
  check: (password: string) => Promise<string | undefined>,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const { default: prompt } = await import('@inquirer/password');
  const ask = async (message: string, validate: (value: string) => Promise<string | true>): Promise<string> => {
    const closed = new AbortController();
    const close = () => closed.abort();
    input.once('pause', close); // Ctrl-D or the end of the input; otherwise, the prompt would wait forever
    try {
      const context = { input, output, signal: closed.signal };
      return await prompt({ message, mask: true, toggleMask: false, validate }, context);
    } catch (error) {
      if (error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name))
        throw new CliError('Cancelled. No changes were made.');
      throw error;
    } finally {
      input.off('pause', close);
    }
  };
  const password = await ask('Password:', async value => (await check(value)) ?? true);
  const repeated = await ask('Repeat password:', async () => true);
  if (password !== repeated) throw new CliError('The two passwords differ. No changes were made.');
  return password;
}

/** Returns all of standard input, without the final line break that `echo` and here-documents add. */
async function fromStandardInput(stdin: Streams['stdin']): Promise<string> {
  const bytes = await buffer(stdin);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new CliError('The password on standard input is not valid UTF-8.');
  }
}

/** The time before a command shows progress. In milliseconds. */
const quietMs = 1_000;

/** The minimum time between two lines of progress without a terminal. In milliseconds. */
const lineIntervalMs = 5_000;

const eraseLine = '\r\u001b[K';

interface QuestionStreams {
  readonly stdin: Streams['stdin'];
  readonly stderr: NodeJS.WritableStream;
}
