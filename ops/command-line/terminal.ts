import { createInterface } from 'node:readline/promises';
import { buffer } from 'node:stream/consumers';
import { type AskPassword, CliError } from '../stage/operator.ts';
import type { OpsRuntime } from '../stage/ops-runtime.ts';

/** The streams of a command: the process's own, or those of a test. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Pick<NodeJS.WriteStream, 'write'>;
  readonly stderr: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  /** Ends a long command early, as a signal to the process does. */
  readonly interruption?: AbortSignal;
  /** The runtime of a test. */
  readonly runtime?: OpsRuntime;
}

/** Shows no progress: with `--json`, standard error contains only errors. */
export function noProgress(_text: string): void {}

/** Creates the progress line of a command that starts now. It is empty for the first second. */
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
    /** Clears the progress line, so that other output can follow. */
    clear: function clearProgress(): void {
      if (output.isTTY && latest !== '') output.write(eraseLine);
      latest = '';
    },
  };
}

/**
 * Asks before an action that ends sessions or cannot be undone. Without a terminal it refuses, unless `--yes` was
 * given. The question goes to standard error, so that standard output contains only the `--json` answer.
 * @param consequences - the effect of the command, in a sentence: `This ends every access token of stage prod.`
 * @param yes - whether `--yes` was given.
 * @throws {CliError} unless the answer is yes.
 */
export async function confirm(consequences: string, yes = false, terminal: QuestionStreams = process): Promise<void> {
  if (yes) return;
  if (!terminal.stdin.isTTY) {
    throw new CliError(`${consequences} There is no terminal to ask at. Add --yes to confirm.`);
  }
  const prompt = createInterface({ input: terminal.stdin, output: terminal.stderr });
  // The end of the input (Ctrl-D) closes the prompt without an answer, and the question would wait forever.
  const closed = new Promise<string>(resolve => prompt.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([prompt.question(`${consequences}\nType "yes" to continue: `), closed]);
    if (answer.trim() !== 'yes') throw new CliError('Cancelled. No changes were made.');
  } finally {
    prompt.close();
  }
}

/**
 * Creates a function that asks for a password: at a hidden prompt, or on standard input if that is no terminal. An
 * argument would be visible to every process and stay in the shell's history.
 */
export function makeAskPassword(stdin: Streams['stdin'], stderr: NodeJS.WritableStream = process.stderr): AskPassword {
  return function askPassword(check) {
    return stdin.isTTY ? fromPrompt(check, stdin, stderr) : fromStandardInput(stdin);
  };
}

/** Asks twice, because the input is hidden. Prompts on standard error: standard output has the answer only. */
async function fromPrompt(
  check: (password: string) => Promise<string | undefined>,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const { default: prompt } = await import('@inquirer/password');
  const ask = async (message: string, validate: (value: string) => Promise<string | true>): Promise<string> => {
    const closed = new AbortController();
    const close = () => closed.abort();
    input.once('pause', close); // at Ctrl-D or the end of the input, when the prompt would wait forever
    try {
      const place = { input, output, signal: closed.signal };
      return await prompt({ message, mask: true, toggleMask: false, validate }, place);
    } catch (error) {
      if (error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name))
        throw new CliError('Cancelled. No changes were made.');
      throw error;
    } finally {
      input.off('pause', close);
    }
  };
  const password = await ask('Password:', async value => (await check(value)) ?? true);
  const repeated = await ask('Again:', async () => true);
  if (password !== repeated) throw new CliError('The two passwords differ. No changes were made.');
  return password;
}

/** Returns all of standard input, without the final line break that `echo` and here-documents add. */
async function fromStandardInput(stdin: Streams['stdin']): Promise<string> {
  const bytes = await buffer(stdin);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new CliError('the password on standard input is not UTF-8.');
  }
}

/** Commands show no progress for this long, in milliseconds. */
const quietMs = 1_000;

/** Without a terminal each progress text is a line, written at most this often. In milliseconds. */
const lineIntervalMs = 5_000;

const eraseLine = '\r\u001b[K';

interface QuestionStreams {
  readonly stdin: Streams['stdin'];
  readonly stderr: NodeJS.WritableStream;
}
